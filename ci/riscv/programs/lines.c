/* The work of sort, uniq and tac: lines of the standard input, sorted by text, number and length. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}
static int by_length(const void *a, const void *b, void *sign) {
    long x = (long)strlen(*(char *const *)a), y = (long)strlen(*(char *const *)b);
    int order = (x > y) - (x < y);
    return order ? order * *(int *)sign : by_text(a, b);
}
static unsigned long digest(char **line, size_t count) {
    unsigned long sum = 14695981039346656037u;
    for (size_t i = 0; i < count; i++)
        for (char *c = line[i]; *c; c++) sum = (sum ^ (unsigned char)*c) * 1099511628211u;
    return sum;
}
int main(void) {
    char **line = NULL, *text = NULL;
    size_t count = 0, room = 0, length = 0;
    while (getline(&text, &length, stdin) > 0) {
        if (count == room) line = realloc(line, (room = room * 2 + 4) * sizeof *line);
        line[count++] = strdup(text);
    }
    free(text);
    printf("%zu %lx\n", count, digest(line, count));
    qsort(line, count, sizeof *line, by_text);
    printf("%s%s%lx\n", line[0], line[count - 1], digest(line, count));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(line[kept - 1], line[i])) line[kept++] = line[i];
    char **brace = bsearch(&(char *){"}\n"}, line, kept, sizeof *line, by_text);
    printf("%zu %s", kept, brace ? *brace : "none\n");
    int sign = -1;
    qsort_r(line, kept, sizeof *line, by_length, &sign);
    for (size_t i = 0; i < 3; i++) fputs(line[i], stdout);
    return (int)(digest(line, kept) & 127);
}
