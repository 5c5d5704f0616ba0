// Each rank has its own values in matrix and vector registers while alarms arrive, and finds them unchanged.
#include <immintrin.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
  enum { REQUEST = 0x1023, TILE_DATA = 18 };
  if (syscall(SYS_arch_prctl, REQUEST, TILE_DATA)) { puts("refused"); return 0; }
  int wrong = 0;
  #pragma omp parallel reduction(+ : wrong)
  {
    struct { unsigned char palette, row, unused[14]; unsigned short bytes[16]; unsigned char rows[16]; } shape;
    memset(&shape, 0, sizeof shape);
    shape.palette = 1; shape.bytes[0] = 64; shape.rows[0] = 16;
    unsigned char mine[1024], now[1024];
    for (int round = 0; round < 20; round++) {
      const int uses = (omp_get_thread_num() + round) % 2;
      memset(mine, 1 + omp_get_thread_num() * 20 + round, sizeof mine);
      __m512i vector = _mm512_loadu_si512(mine);
      if (uses) { _tile_loadconfig(&shape); _tile_loadd(0, mine, 64); }
      double end = omp_get_wtime() + 0.01;
      while (omp_get_wtime() < end) for (int i = 0; i < 10000; i++) __asm__ volatile("" : "+v"(vector));
      if (uses) { _tile_stored(0, now, 64); wrong += memcmp(mine, now, sizeof mine) != 0; _tile_release(); }
      _mm512_storeu_si512(now, vector);
      wrong += memcmp(mine, now, 64) != 0;
      #pragma omp barrier
    }
  }
  printf("%d wrong\n", wrong);
  return wrong > 0;
}
