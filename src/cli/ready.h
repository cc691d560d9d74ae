/* SPDX-License-Identifier: MIT */
/* Telling the service manager that started us that requests are served now. */
#pragma once

/* Sends READY=1 to the socket that ADDRESS names ("/path", or "@name" for an abstract one), as
 * systemd's Type=notify has it in NOTIFY_SOCKET. 0, also when ADDRESS is NULL, or -errno. */
int ready_tell(const char *address);
