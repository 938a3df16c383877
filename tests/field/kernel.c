/*
 * What a table's PC can do to the daemon, done to the real binary: preloaded, it stands between the program and the system, steered by a
 * file that a test writes. It answers disk calls with EIO, lets a sync or the daemon's only thread hang, sets the wall clock, answers for
 * the modem lines that a pty doesn't have, and writes down what is done to serial lines.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* The words of the file, each of eight bytes; kernel.rs writes the same. */
struct control {
  int64_t wall_moved_us;
  int64_t sync_fails, write_fails, read_fails;
  int64_t sync_hangs, loop_hangs, modem_answers;
  /* Written here: how often a disk call failed, and whether something hangs now. */
  int64_t failed, hangs;
};

static volatile struct control *control;
static const char *journal;
static int trace = -1;

#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static int raw_open(const char *path, int flags) { return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0644); }

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("TABLEGATE_TEST_CONTROL");
  int fd = path ? raw_open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd >= 0) {
    void *place = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (place != MAP_FAILED) control = place;
  }
  journal = getenv("TABLEGATE_TEST_JOURNAL");
  if ((path = getenv("TABLEGATE_TEST_TRACE"))) trace = raw_open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC);
}

static int leads_to(int fd, char *path, size_t room) {
  char name[64];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(name, path, room - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return 1;
}

/* Of the journal's files. */
static int is_journals(int fd) {
  char path[512];
  return journal && leads_to(fd, path, sizeof path) && strncmp(path, journal, strlen(journal)) == 0;
}

static int fails(volatile int64_t *fault, int fd) {
  if (!control || !*fault || !is_journals(fd)) return 0;
  __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
  errno = EIO;
  return 1;
}

static void hang(volatile int64_t *fault) {
  struct timespec pause = {0, 2000000};
  control->hangs = 1;
  while (*fault) syscall(SYS_nanosleep, &pause, NULL);
  control->hangs = 0;
}

/* A line for whoever reads the trace, with the serial line first. */
static void note(int fd, const char *what) {
  char path[512], line[700];
  int kept = errno;
  char *gone;
  if (trace >= 0 && leads_to(fd, path, sizeof path) &&
      (strncmp(path, "/dev/pts/", 9) == 0 || strncmp(path, "/dev/tty", 8) == 0)) {
    if ((gone = strchr(path, ' '))) *gone = 0;
    int length = snprintf(line, sizeof line, "%s %d %s\n", path, fd, what);
    syscall(SYS_write, trace, line, (size_t)length);
  }
  errno = kept;
}

/* The serial lines that are open, by descriptor. */
#define MOST 1024
static char lines[MOST][32];

/* A line that is opened anew drops its modem lines at closing unless it is told otherwise; a pty would come without that. */
static void as_a_line_comes(int fd) {
  char path[512];
  struct termios settings;
  int kept = errno;
  if (fd >= 0 && fd < MOST && leads_to(fd, path, sizeof path) && strncmp(path, "/dev/pts/", 9) == 0) {
    int others = 0;
    for (int other = 0; other < MOST; other++) others += strcmp(lines[other], path) == 0;
    snprintf(lines[fd], sizeof lines[fd], "%.31s", path);
    /* The kernel's own layout is a prefix of the library's. */
    if (!others && syscall(SYS_ioctl, fd, TCGETS, &settings) == 0) {
      settings.c_cflag |= HUPCL;
      syscall(SYS_ioctl, fd, TCSETS, &settings);
    }
  }
  errno = kept;
}

static int noted_open(int fd, int flags) {
  char what[80];
  if (trace >= 0) as_a_line_comes(fd);
  snprintf(what, sizeof what, "open%s%s", flags & O_NONBLOCK ? " nonblock" : " BLOCKING", flags & O_NOCTTY ? " noctty" : "");
  if (fd >= 0) note(fd, what);
  return fd;
}

#define OPEN(name, at, ...) \
  int name(__VA_ARGS__, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    return noted_open((int)syscall(SYS_openat, at, path, flags | O_LARGEFILE, mode), flags); \
  }
OPEN(open, AT_FDCWD, const char *path)
OPEN(open64, AT_FDCWD, const char *path)
OPEN(openat, directory, int directory, const char *path)
OPEN(openat64, directory, int directory, const char *path)

int close(int fd) {
  note(fd, "close");
  if (fd >= 0 && fd < MOST) lines[fd][0] = 0;
  return (int)syscall(SYS_close, fd);
}

int flock(int fd, int how) {
  note(fd, how & LOCK_EX ? "flock exclusive" : "flock");
  return (int)syscall(SYS_flock, fd, how);
}

int tcsetattr(int fd, int when, const struct termios *settings) {
  REAL(tcsetattr);
  note(fd, settings->c_cflag & HUPCL ? "settings HUPCL" : "settings");
  return real(fd, when, settings);
}

int tcflush(int fd, int which) {
  REAL(tcflush);
  note(fd, which == TCIFLUSH ? "discard input" : which == TCOFLUSH ? "discard output" : "discard all");
  return real(fd, which);
}

int tcdrain(int fd) {
  REAL(tcdrain);
  note(fd, "drain");
  return real(fd);
}

/* TCSETS2 and what it sets; the header with them can't be had beside termios.h. */
struct settings2 {
  tcflag_t c_iflag, c_oflag, c_cflag, c_lflag;
};
#define SET_2 0x402C542B

static int on_modem_lines(int fd, const char *what, int lines) {
  char text[80];
  int answers = control && control->modem_answers;
  snprintf(text, sizeof text, "%s%s%s %s", what, lines & TIOCM_DTR ? " DTR" : "", lines & TIOCM_RTS ? " RTS" : "",
           answers ? "done" : "refused");
  note(fd, text);
  return answers;
}

int ioctl(int fd, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  switch (request) {
    case TIOCEXCL: note(fd, "exclusive"); break;
    case TCSETS:
    case TCSETSW:
    case TCSETSF: note(fd, ((struct settings2 *)argument)->c_cflag & HUPCL ? "settings HUPCL" : "settings"); break;
    case SET_2: note(fd, ((struct settings2 *)argument)->c_cflag & HUPCL ? "settings HUPCL" : "settings"); break;
    case TCFLSH: note(fd, "discard"); break;
    case TCSBRK: note(fd, "drain"); break;
    case TIOCMBIS: if (on_modem_lines(fd, "raise", *(int *)argument)) return 0; break;
    case TIOCMBIC: if (on_modem_lines(fd, "lower", *(int *)argument)) return 0; break;
    case TIOCMSET: if (on_modem_lines(fd, "set", *(int *)argument)) return 0; break;
  }
  return (int)syscall(SYS_ioctl, fd, request, argument);
}

int fsync(int fd) {
  if (control && control->sync_hangs && is_journals(fd)) hang(&control->sync_hangs);
  return fails(&control->sync_fails, fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
  if (control && control->sync_hangs && is_journals(fd)) hang(&control->sync_hangs);
  return fails(&control->sync_fails, fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  return fails(&control->write_fails, fd) ? -1 : syscall(SYS_write, fd, bytes, length);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  return fails(&control->write_fails, fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, length, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  return fails(&control->write_fails, fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, length, at);
}

ssize_t read(int fd, void *bytes, size_t length) {
  return fails(&control->read_fails, fd) ? -1 : syscall(SYS_read, fd, bytes, length);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t at) {
  return fails(&control->read_fails, fd) ? -1 : syscall(SYS_pread64, fd, bytes, length, at);
}

ssize_t pread64(int fd, void *bytes, size_t length, off64_t at) {
  return fails(&control->read_fails, fd) ? -1 : syscall(SYS_pread64, fd, bytes, length, at);
}

int clock_gettime(clockid_t which, struct timespec *time) {
  REAL(clock_gettime);
  if (control && which == CLOCK_MONOTONIC && control->loop_hangs && syscall(SYS_gettid) == getpid()) hang(&control->loop_hangs);
  int status = real(which, time);
  if (control && status == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
    int64_t moved = control->wall_moved_us;
    time->tv_sec += moved / 1000000;
    time->tv_nsec += moved % 1000000 * 1000;
    if (time->tv_nsec < 0) time->tv_sec--, time->tv_nsec += 1000000000;
    if (time->tv_nsec >= 1000000000) time->tv_sec++, time->tv_nsec -= 1000000000;
  }
  return status;
}
