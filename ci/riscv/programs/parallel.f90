! OpenMP in Fortran, as the NAS benchmarks use it.
program parallel
  use omp_lib
  implicit none
  integer, parameter :: n = 3000
  real(8) :: x(n), total
  integer :: i, round
  total = 0
  x = 1
  do round = 1, 5
    !$omp parallel do schedule(static)
    do i = 1, n
      x(i) = x(i) * 0.5d0 + i
    end do
    !$omp end parallel do
    !$omp parallel do reduction(+:total)
    do i = 1, n
      total = total + nint(x(i))
    end do
    !$omp end parallel do
  end do
  print '(f16.2, i4)', total, omp_get_max_threads()
  call exit(9)
end program parallel
