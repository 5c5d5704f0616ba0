/* Makes, writes, seeks in, lists and removes files, and reads the standard input. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
    char name[] = "/tmp/manycore-riscv-XXXXXX";
    int file = mkstemp(name);
    FILE *stream = fdopen(file, "w+");
    for (int i = 0; i < 3000; i++) fprintf(stream, "line %d\n", i);
    fseek(stream, 100, SEEK_SET);
    char line[64];
    fgets(line, sizeof line, stream);
    struct stat st;
    fstat(file, &st);
    printf("%s%ld %o %d\n", line, (long)st.st_size, st.st_mode & 0170000, access(name, R_OK));
    fclose(stream);
    printf("%d %d %d\n", unlink(name), stat(name, &st), errno == ENOENT);
    int lines = 0, c;
    while ((c = getchar()) != EOF) lines += c == '\n';
    printf("%d\n", lines);
    DIR *folder = opendir("ci/riscv");
    int entries = 0;
    while (folder && readdir(folder)) entries++;
    printf("%d\n", entries > 2);
    int ends[2];
    if (pipe(ends) == 0 && write(ends[1], "pipe", 4) == 4 && read(ends[0], line, 64) == 4)
        printf("%.4s\n", line);
    return 0;
}
