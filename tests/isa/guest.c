/* The only program of the emulated machine: takes jobs from the machine's disk, runs them and writes back what came of
 * them. A job lies at JOB_SECTOR, its answer at ANSWER_SECTOR, both as records: a letter, four bytes of name length,
 * eight bytes of data length, name and data. Job: 'x' the program and 'f' other files of its folder, 'a' arguments.
 * Answer: 's' the exit status, 'o' what was printed, 'f' files of its folder out; both end with 'e'. Sectors 0 and 1
 * hold the numbers of the last job and the last answer. The disk is driven by its ports (ATA, programmed input and
 * output): the kernel has no driver. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SECTOR = 512,
    READ_SECTORS = 0x20,
    WRITE_SECTORS = 0x30,
    DATA = 0x1f0,
    COUNT = 0x1f2,
    COMMAND = 0x1f7,
    MOST_ARGUMENTS = 256
};
static const char *const FOLDER = "/job", *const PRINTED = "/printed";

typedef struct {
    uint32_t      sector; /* the next to read or write */
    int           at;     /* byte of `bytes` */
    unsigned char bytes[SECTOR];
} Stream;

/* Fatal: the host sees that no answer comes and that the console says why. */
static void give_up(const char *what)
{
    perror(what);
    for (;;)
        sleep(1000);
}

static void start_sector(uint32_t sector, unsigned char command)
{
    outb(1, COUNT);
    for (int byte = 0; byte < 3; byte++)
        outb((unsigned char)(sector >> 8 * byte), (unsigned short)(COUNT + 1 + byte));
    outb((unsigned char)(0xe0 | sector >> 24), COUNT + 4);
    outb(command, COMMAND);
    while ((inb(COMMAND) & 0x88) != 8)
        continue;
}

static void read_sector(uint32_t sector, void *bytes)
{
    start_sector(sector, READ_SECTORS);
    insw(DATA, bytes, SECTOR / 2);
}

static void write_sector(uint32_t sector, const void *bytes)
{
    start_sector(sector, WRITE_SECTORS);
    outsw(DATA, bytes, SECTOR / 2);
    while (inb(COMMAND) & 0x80)
        continue;
}

static void take(Stream *stream, void *to, size_t count)
{
    for (unsigned char *next = to; count;) {
        if (stream->at == SECTOR)
            stream->at = 0;
        if (stream->at == 0)
            read_sector(stream->sector++, stream->bytes);
        size_t part = (size_t)(SECTOR - stream->at) < count ? (size_t)(SECTOR - stream->at) : count;
        memcpy(next, stream->bytes + stream->at, part);
        stream->at += (int)part;
        next += part;
        count -= part;
    }
}

static void flush(Stream *stream)
{
    if (stream->at)
        write_sector(stream->sector++, stream->bytes);
    stream->at = 0;
}

static void give(Stream *stream, const void *from, size_t count)
{
    for (const unsigned char *next = from; count;) {
        size_t part = (size_t)(SECTOR - stream->at) < count ? (size_t)(SECTOR - stream->at) : count;
        memcpy(stream->bytes + stream->at, next, part);
        stream->at += (int)part;
        next += part;
        count -= part;
        if (stream->at == SECTOR)
            flush(stream);
    }
}

static void give_record(Stream *stream, char kind, const char *name, uint64_t size)
{
    uint32_t length = (uint32_t)strlen(name);
    give(stream, &kind, 1);
    give(stream, &length, sizeof length);
    give(stream, &size, sizeof size);
    give(stream, name, length);
}

static void give_file(Stream *stream, char kind, const char *name, const char *path)
{
    static char bytes[1 << 16];
    struct stat about;
    int         file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &about))
        give_up(path);
    give_record(stream, kind, name, (uint64_t)about.st_size);
    for (ssize_t got; (got = read(file, bytes, sizeof bytes)) > 0;)
        give(stream, bytes, (size_t)got);
    close(file);
}

static void take_file(Stream *stream, const char *name, uint64_t size, mode_t mode)
{
    static char bytes[1 << 16];
    int         file = open(name, O_WRONLY | O_CREAT | O_TRUNC, mode);
    if (file < 0)
        give_up(name);
    while (size) {
        size_t part = size < sizeof bytes ? (size_t)size : sizeof bytes;
        take(stream, bytes, part);
        if (write(file, bytes, part) != (ssize_t)part)
            give_up(name);
        size -= part;
    }
    close(file);
}

/* Reads the whole job into the working folder. Returns how many arguments there are; each is owned by the caller. */
static int take_job(Stream *job, char **arguments)
{
    int count = 0;
    for (;;) {
        char     kind;
        uint32_t length;
        uint64_t size;
        take(job, &kind, 1);
        take(job, &length, sizeof length);
        take(job, &size, sizeof size);
        char *name = calloc(length + 1, 1);
        take(job, name, length);
        if (kind == 'a' && count < MOST_ARGUMENTS - 1) {
            arguments[count++] = name;
            continue;
        }
        if (kind == 'x' || kind == 'f')
            take_file(job, name, size, kind == 'x' ? 0755 : 0644);
        free(name);
        if (kind == 'e')
            return count;
    }
}

/* Bochs 2.7 cannot restore what it saved by XSAVEC, which is what binding a function at its first call does. */
static char *const BIND_NOW[] = {"LD_BIND_NOW=1", NULL};

static int run(char **arguments)
{
    pid_t child = fork();
    if (child == 0) {
        int printed = open(PRINTED, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        dup2(printed, 1);
        dup2(printed, 2);
        execve(arguments[0], arguments, BIND_NOW);
        perror(arguments[0]);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind;
    return place->level ? remove(path) : 0;
}

static void answer(Stream *stream, int status)
{
    char number[16];
    snprintf(number, sizeof number, "%d", status);
    give_record(stream, 's', number, 0);
    give_file(stream, 'o', "", PRINTED);
    DIR *out = opendir("out");
    for (struct dirent *entry; out && (entry = readdir(out));)
        if (entry->d_type == DT_REG) {
            char path[512];
            snprintf(path, sizeof path, "out/%s", entry->d_name);
            give_file(stream, 'f', path, path);
        }
    if (out)
        closedir(out);
    give_record(stream, 'e', "", 0);
    flush(stream);
}

static void serve(void)
{
    char  *arguments[MOST_ARGUMENTS] = {0};
    Stream job = {.sector = JOB_SECTOR}, reply = {.sector = ANSWER_SECTOR};
    int    count = take_job(&job, arguments);
    answer(&reply, run(arguments));
    for (int i = 0; i < count; i++)
        free(arguments[i]);
    nftw(FOLDER, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    unsigned char sector[SECTOR] = {0};
    if (ioperm(DATA, 8, 1) || mkdir(FOLDER, 0755) || chdir(FOLDER) || mount("proc", "/proc", "proc", 0, NULL))
        give_up("start");
    for (uint32_t done = 1, asked;; done = asked) { /* job 1 is none: its answer says that the machine runs */
        memcpy(sector, &done, sizeof done);
        write_sector(1, sector);
        do {
            usleep(1000);
            read_sector(0, sector);
            memcpy(&asked, sector, sizeof asked);
        } while (asked == done);
        serve();
    }
}
