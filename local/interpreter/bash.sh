# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The bash driver of the code interpreter: the file that an interactive shell starts with. Its input
# are the commands of interpreter/frame.c; it writes messages to descriptor 4.
exec 5<&-
set +H +m
unset HISTFILE PROMPT_COMMAND
PS1='' PS2='' PS4='+ '
shopt -s expand_aliases
__report_end() {
    if [ "$1" != 0 ]; then
        printf '{"type":"error","name":"ExitStatus","value":"%s","traceback":""}\n' "$1" >&4
    fi
    printf '{"type":"done"}\n' >&4
}
printf '{"type":"ready"}\n' >&4
