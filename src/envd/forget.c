/* SPDX-License-Identifier: MIT */
#include "envd/forget.h"

#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACE "/dev/shm"

enum { OPEN_MAX_DIRS = 16 };

/* ---- /dev/shm ---- */

void forget_init(struct forget_place *ret)
{
    struct stat st;
    bool is_there = lstat(PLACE, &st) == 0 && S_ISDIR(st.st_mode);

    *ret = (struct forget_place){0};
    if (is_there)
        *ret = (struct forget_place){.dev = st.st_dev, .ino = st.st_ino};
}

static int remove_shared_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    if (at->level > 0)
        (void)remove(path);
    return 0;
}

static void empty_place(const struct forget_place *place)
{
    struct stat st;

    if (lstat(PLACE, &st) < 0 || st.st_dev != place->dev || st.st_ino != place->ino)
        return;
    (void)nftw(PLACE, remove_shared_file, OPEN_MAX_DIRS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* ---- System V ---- */

/* A process may remove what belongs to the user that it is. Those of this cell, if not others. */
static void become_owner(uid_t uid)
{
    (void)syscall(SYS_setresuid, -1, 0, -1);
    (void)syscall(SYS_setresuid, -1, uid, -1);
}

/* The kernel numbers what there is of each kind from 0 up to what INFO returns; gaps are errors. */
static void remove_segments(void)
{
    struct shm_info info;
    struct shmid_ds one;

    for (int i = 0, n = shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info); i <= n; i++) {
        become_owner(0);
        int id = shmctl(i, SHM_STAT, &one);
        if (id < 0)
            continue;
        become_owner(one.shm_perm.uid);
        (void)shmctl(id, IPC_RMID, NULL);
    }
}

static void remove_queues(void)
{
    struct msginfo info;
    struct msqid_ds one;

    for (int i = 0, n = msgctl(0, MSG_INFO, (struct msqid_ds *)(void *)&info); i <= n; i++) {
        become_owner(0);
        int id = msgctl(i, MSG_STAT, &one);
        if (id < 0)
            continue;
        become_owner(one.msg_perm.uid);
        (void)msgctl(id, IPC_RMID, NULL);
    }
}

static void remove_semaphores(void)
{
    struct seminfo info;
    struct semid_ds one = {0};
    union {
        struct seminfo *info;
        struct semid_ds *one;
    } all = {.info = &info}, each = {.one = &one};

    for (int i = 0, n = semctl(0, 0, SEM_INFO, all); i <= n; i++) {
        become_owner(0);
        int id = semctl(i, 0, SEM_STAT, each);
        if (id < 0)
            continue;
        become_owner(one.sem_perm.uid);
        (void)semctl(id, 0, IPC_RMID);
    }
}

/* In a child: the kernel takes more than the rights from a process that changes its user. */
static void remove_ipc(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        remove_segments();
        remove_queues();
        remove_semaphores();
        _exit(0);
    }
    if (pid > 0)
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
}

void forget_shared(const struct forget_place *place)
{
    if (place->ino == 0)
        return;
    empty_place(place);
    remove_ipc();
}
