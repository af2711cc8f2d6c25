/* SPDX-License-Identifier: Apache-2.0 */
/* A library for LD_PRELOAD that starts a command once for many runs. The library takes the place of main: the process
 * stays as it is before main, and for each request it makes a copy of itself that goes on into the command with
 * arguments of its own. So programs are loaded, relocated and given their sanitizers once. prestarted.py is the other
 * end.
 *
 *   PRESTARTED_SOCKET  number of a descriptor, a SOCK_SEQPACKET. A request is the working folder and the arguments from
 *                      argv[0] on, each with a zero behind it, and two descriptors: standard output and standard error.
 *                      Answers are the copy's process id and then, when it has ended, waitpid's status, as ints. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 17, MOST_ARGUMENTS = 4096 };

typedef int main_function(int argc, char **argv, char **environment);

/* Static, so that arguments are no leak. */
static main_function *command_main;
static char request[MOST_BYTES];
static char *arguments[MOST_ARGUMENTS + 1];

static void give_up(const char *what)
{
    perror(what);
    _exit(125);
}

/* Number of bytes of the next request; 0: there is none any more. streams: two new descriptors. */
static size_t receive(int socket, int *streams)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec bytes = {request, sizeof request - 1};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t size = recvmsg(socket, &message, 0);
    if (size <= 0)
        return 0;
    struct cmsghdr *passed = CMSG_FIRSTHDR(&message);
    if (!passed || passed->cmsg_len != CMSG_LEN(2 * sizeof(int)) || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
        give_up("request");
    memcpy(streams, CMSG_DATA(passed), 2 * sizeof(int));
    return (size_t)size;
}

static void answer(int socket, int number)
{
    if (send(socket, &number, sizeof number, MSG_NOSIGNAL) != sizeof number)
        _exit(0); /* who asked is gone */
}

/* Gives the answers to a request in the process that waits; returns the request's size in the one that is to go on. */
static size_t serve(int socket)
{
    int streams[2], status;
    size_t size;
    while ((size = receive(socket, streams))) {
        pid_t copy = _Fork(); /* handlers of fork would write to each page where AddressSanitizer keeps stacks */
        if (copy < 0)
            give_up("fork");
        if (copy == 0) {
            if (dup2(streams[0], STDOUT_FILENO) < 0 || dup2(streams[1], STDERR_FILENO) < 0)
                give_up("dup2");
            close(streams[0]);
            close(streams[1]);
            close(socket);
            return size;
        }
        close(streams[0]);
        close(streams[1]);
        answer(socket, copy);
        if (waitpid(copy, &status, 0) != copy)
            give_up("waitpid");
        answer(socket, status);
    }
    _exit(0);
}

/* LeakSanitizer reads all pages of the process. Those that it has read before a copy is made are there in the copy. */
static void read_all_pages(void)
{
    int (*look)(void) = (__extension__(__typeof__(look)) dlsym(RTLD_DEFAULT, "__lsan_do_recoverable_leak_check"));
    if (look && look() != 0)
        give_up("leaks before main");
}

static int main_of_copies(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    const char *number = getenv("PRESTARTED_SOCKET");
    if (!number)
        give_up("PRESTARTED_SOCKET");
    int socket = atoi(number), count = 0;
    unsetenv("PRESTARTED_SOCKET");
    read_all_pages();
    size_t size = serve(socket);
    for (size_t at = strlen(request) + 1; at < size; at += strlen(request + at) + 1) {
        if (count == MOST_ARGUMENTS)
            give_up("arguments");
        arguments[count++] = request + at;
    }
    if (chdir(request) != 0)
        give_up(request);
    return command_main(count, arguments, environment);
}

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    static __typeof__(&__libc_start_main) next;
    next = (__extension__(__typeof__(&__libc_start_main)) dlsym(RTLD_NEXT, "__libc_start_main"));
    command_main = main;
    return next(main_of_copies, argc, argv, init, fini, rtld_fini, stack_end);
}
