! Arrays, formatted output, internal procedures, complex numbers.
program matrix
  implicit none
  integer, parameter :: n = 24
  real(8) :: a(n, n), b(n, n), c(n, n)
  complex(8) :: z
  integer :: i, j
  do j = 1, n
    do i = 1, n
      a(i, j) = sin(real(i * j, 8))
      b(i, j) = merge(1d0, 0.5d0, i == j)
    end do
  end do
  c = matmul(a, b) + transpose(a)
  z = (1d0, 2d0)
  do i = 1, 10
    z = step(z)
  end do
  print '(a, f20.12, 2es14.6)', 'sum ', sum(c), z
  print *, maxloc(c), any(c > 5d0), trim(adjustl('   text '))
contains
  pure function step(w) result(r)
    complex(8), intent(in) :: w
    complex(8) :: r
    r = sqrt(w * w + cmplx(0.1d0, -0.3d0, 8))
  end function step
end program matrix
