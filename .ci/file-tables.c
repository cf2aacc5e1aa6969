/*
 * Gives each event loop of a process a table of open files of its own, where the machine's hard
 * limit of open files (ulimit -Hn) is lower than a bench needs: on Linux the limit bounds each
 * table, not the process. For the bench alone (.ci/couriers); an operator raises LimitNOFILE.
 *
 * This library is preloaded and does two things. A NIO event loop leaves the common table before it
 * accepts its first connection from the network: files that were open stay open in both tables
 * under their numbers, and files opened later belong to the loop alone. A new thread has the table
 * of the thread that starts it. libdispatch starts threads from any thread that gives it work, so
 * a thread that such a loop would start is started by a thread of the common table instead.
 *
 * The library works for a program whose loops share no file that is opened later: connections stay
 * on the loop that accepted them (several sockets with SO_REUSEPORT), and other threads use files.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

typedef void *(*body)(void *);
typedef int (*creator)(pthread_t *, const pthread_attr_t *, body, void *);
typedef int (*acceptor)(int, struct sockaddr *, socklen_t *, int);

static creator create_thread;
static acceptor accept_connection;
static __thread int is_apart;

/* One request at a time, from a thread that has left the common table. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct {
  int is_asked, is_done, result;
  pthread_t *thread;
  const pthread_attr_t *attributes;
  body start;
  void *argument;
  sigset_t signals;
} request;

/* Never leaves the common table. */
static void *spawn(void *unused) {
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!request.is_asked) pthread_cond_wait(&changed, &lock);
    request.is_asked = 0;
    sigset_t mine;
    /* A new thread has the signal mask of the one that starts it, too. */
    pthread_sigmask(SIG_SETMASK, &request.signals, &mine);
    request.result =
        create_thread(request.thread, request.attributes, request.start, request.argument);
    pthread_sigmask(SIG_SETMASK, &mine, NULL);
    request.is_done = 1;
    pthread_cond_broadcast(&changed);
  }
  return unused;
}

/* Another library's beginning may come before ours. */
static void find(void) {
  if (!create_thread) create_thread = (creator)dlsym(RTLD_NEXT, "pthread_create");
}

__attribute__((constructor)) static void prepare(void) {
  find();
  accept_connection = (acceptor)dlsym(RTLD_NEXT, "accept4");
  /* The program's children are not meant. */
  unsetenv("LD_PRELOAD");
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t spawner;
  if (create_thread(&spawner, NULL, spawn, NULL) != 0) abort();
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, body start, void *argument) {
  find();
  if (!is_apart) return create_thread(thread, attributes, start, argument);
  pthread_mutex_lock(&turn);
  pthread_mutex_lock(&lock);
  request.thread = thread;
  request.attributes = attributes;
  request.start = start;
  request.argument = argument;
  pthread_sigmask(SIG_SETMASK, NULL, &request.signals);
  request.is_done = 0;
  request.is_asked = 1;
  pthread_cond_broadcast(&changed);
  while (!request.is_done) pthread_cond_wait(&changed, &lock);
  int result = request.result;
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&turn);
  return result;
}

static int is_event_loop(void) {
  char name[16] = "";
  return prctl(PR_GET_NAME, name) == 0 && strncmp(name, "NIO-SGLTN", 9) == 0;
}

static int is_of_network(int socket) {
  int domain = AF_UNIX;
  socklen_t length = sizeof domain;
  getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &length);
  return domain == AF_INET || domain == AF_INET6;
}

int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags) {
  if (!is_apart && is_of_network(socket) && is_event_loop()) {
    if (unshare(CLONE_FILES) != 0) {
      perror("file-tables: unshare");
      abort();
    }
    is_apart = 1;
  }
  return accept_connection(socket, address, length, flags);
}
