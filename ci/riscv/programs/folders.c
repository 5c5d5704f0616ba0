/* The calls of mkdir, cp, mv, ls and rm: folders, copies, links, times, sizes, errors. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}
static void list(const char *folder) {
    struct dirent **entry;
    int count = scandir(folder, &entry, NULL, by_name);
    for (int i = 0; i < count; i++) {
        char path[300];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.' && stat(path, &st) == 0)
            printf("%s %c %ld, ", entry[i]->d_name, S_ISDIR(st.st_mode) ? 'd' : 'f',
                   S_ISDIR(st.st_mode) ? 0L : (long)st.st_size);
        free(entry[i]);
    }
    if (count >= 0) free(entry);
    printf("%d\n", count);
}
static long copy(const char *from, const char *to) {
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    char part[100];
    long all = 0, got;
    while ((got = read(in, part, sizeof part)) > 0) all += write(out, part, (size_t)got);
    close(in), close(out);
    return all;
}
int main(void) {
    char top[] = "/tmp/manycore-folders-XXXXXX";
    if (!mkdtemp(top) || chdir(top)) return 1;
    mkdir("a", 0755), mkdir("a/b", 0755);
    int file = open("a/one", O_RDWR | O_CREAT | O_EXCL, 0600);
    struct iovec part[] = {{"some ", 5}, {"text ", 5}, {"in parts\n", 9}};
    printf("%zd %ld ", writev(file, part, 3), (long)lseek(file, 3, SEEK_SET));
    char word[8] = "";
    struct iovec back[] = {{word, 3}, {word + 3, 2}};
    printf("%zd %s\n", readv(file, back, 2), word);
    printf("%d %d\n", ftruncate(file, 1000), open("a/one", O_CREAT | O_EXCL, 0600) < 0);
    int second = dup(file);
    lseek(second, 40, SEEK_SET);
    printf("%ld %d\n", (long)lseek(file, 0, SEEK_CUR), (int)pwrite(file, "end", 3, 1500));
    close(file), close(second);
    printf("%ld\n", copy("a/one", "a/b/two"));
    list("a");
    printf("%d %d ", rename("a/b/two", "a/three"), rename("a/none", "a/four"));
    printf("%s\n", strerror(errno));
    list("a");
    printf("%d %d ", rmdir("a"), errno == ENOTEMPTY);
    printf("%d %d %d %d %d\n", rmdir("a/b"), unlink("a/one"), unlink("a/three"), rmdir("a"),
           access("a", F_OK));
    FILE *stream = fopen("buffered", "w+");
    setvbuf(stream, NULL, _IOFBF, 64);
    for (int i = 0; i < 100; i++) fwrite(&i, sizeof i, 1, stream);
    fseek(stream, 40 * (long)sizeof(int), SEEK_SET);
    int value = 0, pushed = 0;
    (void)!fread(&value, sizeof value, 1, stream);
    ungetc('x', stream);
    pushed = getc(stream);
    fclose(stream);
    stream = fopen("buffered", "a");
    fputs("tail", stream);
    printf("%d %c %ld\n", value, pushed, ftell(stream));
    fclose(stream);
    printf("%d %d\n", remove("buffered"), chdir("/") || rmdir(top));
    return 0;
}
