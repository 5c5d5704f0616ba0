! A module, derived types, allocatable arrays, files, internal reads and writes, recursion.
module heat
  implicit none
  type :: plate
    integer :: n
    real(8), allocatable :: t(:, :)
  contains
    procedure :: step
    procedure :: total
  end type plate
contains
  subroutine step(self, difference)
    class(plate), intent(inout) :: self
    real(8), intent(out) :: difference
    real(8), allocatable :: next(:, :)
    integer :: n
    n = self%n
    next = self%t
    next(2:n-1, 2:n-1) = 0.25d0 * (self%t(1:n-2, 2:n-1) + self%t(3:n, 2:n-1) &
                       + self%t(2:n-1, 1:n-2) + self%t(2:n-1, 3:n))
    difference = maxval(abs(next - self%t))
    call move_alloc(next, self%t)
  end subroutine step
  pure real(8) function total(self)
    class(plate), intent(in) :: self
    total = sum(self%t)
  end function total
  recursive integer function hanoi(n) result(moves)
    integer, intent(in) :: n
    moves = merge(0, 1, n == 0)
    if (n > 0) moves = 1 + 2 * hanoi(n - 1)
  end function hanoi
end module heat

program main
  use heat
  implicit none
  type(plate) :: p
  real(8) :: difference, row(4)
  integer :: i, unit, status
  character(len=80) :: line
  character(len=:), allocatable :: text
  p%n = 20
  allocate (p%t(20, 20), source=0d0)
  p%t(1, :) = 100d0
  do i = 1, 200
    call p%step(difference)
    if (difference < 1d-2) exit
  end do
  print '(i4, f14.6, es12.4)', i, p%total(), difference
  open (newunit=unit, status='scratch', form='formatted')
  do i = 1, 5
    write (unit, '(4f9.3)') p%t(i, 1:4)
  end do
  rewind unit
  do
    read (unit, *, iostat=status) row
    if (status /= 0) exit
    print '(4(1x, f8.3))', row
  end do
  close (unit)
  write (line, '(a, i0, a, z8.8, l2)') 'n=', hanoi(10), ' bits=', 48879, .true.
  text = trim(line) // ' and ' // repeat('ab', 3)
  print '(a, 1x, i0, 1x, i0)', text, len(text), index(text, 'and')
  read (line(3:6), '(i4)') i
  print *, i, real(i, 4) / 3., cmplx(1, i)
  read (*, '(a)') line
  print '(a)', trim(line)
  if (i /= 1023) error stop 2
  stop 4
end program main
