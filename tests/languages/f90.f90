! The Fortran 90 interface: optional arguments, all kinds and ranks, strides and maps, groups; each call with
! its outcome.
program f90
  use netcdf
  use typesizes
  implicit none
  integer, parameter :: kinds(5) = (/nf90_byte, nf90_short, nf90_int, nf90_float, nf90_double/)
  integer, parameter :: more(5) = (/nf90_ubyte, nf90_ushort, nf90_uint, nf90_int64, nf90_uint64/)
  character(len=20) :: form
  integer :: file, x, y, t, letters, varids(10), recids(10), text, scalar, seven, count, i, old
  logical :: four
  call get_command_argument(1, form)
  four = form(1:7) == 'netcdf4'
  count = 5
  if (form == 'netcdf4' .or. form == '64bit-data') count = 10

  call say('create', nf90_create('out.nc', mode_of(form), file))
  call say('def_dim', nf90_def_dim(file, 'x', 6, x))
  call say('def_dim', nf90_def_dim(file, 'y', 4, y))
  call say('def_dim', nf90_def_dim(file, 't', nf90_unlimited, t))
  call say('def_dim', nf90_def_dim(file, 'letters', 8, letters))
  do i = 1, count
    if (four) then
      call say('def_var', nf90_def_var(file, 'v_'//char(64 + i), kind_of(i), (/x, y/), varids(i), &
          chunksizes=(/3, 4/), deflate_level=i, shuffle=mod(i, 2) == 0, fletcher32=i == 3, &
          endianness=nf90_endian_big))
      call say('contiguous', nf90_def_var(file, 'c_'//char(64 + i), kind_of(i), x, old, contiguous=.true.))
    else
      call say('def_var', nf90_def_var(file, 'v_'//char(64 + i), kind_of(i), (/x, y/), varids(i)))
    end if
    call say('def_var', nf90_def_var(file, 'r_'//char(64 + i), kind_of(i), (/x, t/), recids(i)))
    call put_attributes(varids(i))
  end do
  call say('def_var', nf90_def_var(file, 'text', nf90_char, (/letters, t/), text))
  call say('def_var', nf90_def_var(file, 'scalar', nf90_double, scalar))
  call say('def_var', nf90_def_var(file, 'seven', nf90_int, (/x, x, x, x, x, x, y/), seven))
  call say('title', nf90_put_att(file, nf90_global, 'title', 'made in Fortran 90'))
  call say('fill', nf90_def_var_fill(file, varids(4), 0, 1.5))
  call say('no fill', nf90_def_var_fill(file, seven, 1, 0))
  call say('set_fill', nf90_set_fill(file, nf90_nofill, old))
  print *, old
  call say('enddef', nf90_enddef(file, h_minfree=100, v_align=8))
  do i = 1, count
    call write_and_read(varids(i), recids(i))
  end do
  call characters_and_ranks
  call say('sync', nf90_sync(file))
  call say('close', nf90_close(file))
  call inquire_all
  call change
  if (form == 'netcdf4') call groups

contains

  subroutine say(what, status)
    character(len=*), intent(in) :: what
    integer, intent(in) :: status
    print *, what, ': ', trim(nf90_strerror(status))
  end subroutine

  integer function kind_of(i)
    integer, intent(in) :: i
    if (i <= 5) then
      kind_of = kinds(i)
    else
      kind_of = more(i - 5)
    end if
  end function

  integer function mode_of(form)
    character(len=*), intent(in) :: form
    select case (form)
    case ('64bit-offset')
      mode_of = nf90_64bit_offset
    case ('64bit-data')
      mode_of = nf90_64bit_data
    case ('netcdf4')
      mode_of = nf90_netcdf4
    case ('netcdf4-classic')
      mode_of = ior(nf90_netcdf4, nf90_classic_model)
    case default
      mode_of = nf90_clobber
    end select
  end function

  subroutine put_attributes(varid)
    integer, intent(in) :: varid
    call say('put_att', nf90_put_att(file, varid, 'text', 'kg m-2'))
    call say('put_att', nf90_put_att(file, varid, 'byte', 3_OneByteInt))
    call say('put_att', nf90_put_att(file, varid, 'bytes', (/1_OneByteInt, -2_OneByteInt/)))
    call say('put_att', nf90_put_att(file, varid, 'shorts', (/300_TwoByteInt, -5_TwoByteInt/)))
    call say('put_att', nf90_put_att(file, varid, 'ints', (/70000, -5, 3/)))
    call say('put_att', nf90_put_att(file, varid, 'long', 5000000000_EightByteInt))
    call say('put_att', nf90_put_att(file, varid, 'floats', (/1.5, -0.25/)))
    call say('put_att', nf90_put_att(file, varid, 'double', 1d300))
  end subroutine

  subroutine write_and_read(varid, recid)
    integer, intent(in) :: varid, recid
    integer(OneByteInt) :: bytes(6, 4)
    integer(TwoByteInt) :: shorts(6, 4)
    integer(FourByteInt) :: ints(6, 4), one
    integer(EightByteInt) :: longs(4, 6)
    real(FourByteReal) :: floats(3, 2)
    real(EightByteReal) :: doubles(6, 4), single
    integer :: k
    doubles = reshape((/(k * 5.5d0, k = 1, 24)/), (/6, 4/))
    ints = reshape((/(k * 3, k = 1, 24)/), (/6, 4/))
    call say('put doubles', nf90_put_var(file, varid, doubles))
    call say('put bytes', nf90_put_var(file, varid, int((/1, 2, 3/), OneByteInt), start=(/4, 2/), count=(/3, 1/)))
    call say('put shorts', nf90_put_var(file, varid, int(ints(1:2, 1:2), TwoByteInt), (/1, 3/), stride=(/4, 1/)))
    call say('put ints', nf90_put_var(file, varid, transpose(ints(1:3, 1:2)), (/1, 1/), (/3, 2/), map=(/2, 1/)))
    call say('put long', nf90_put_var(file, varid, 77_EightByteInt, (/6, 4/)))
    call say('put float', nf90_put_var(file, varid, 12.75, (/5, 4/)))
    do k = 1, 3
      call say('put record', nf90_put_var(file, recid, ints(:, k), start=(/1, k/)))
    end do
    call say('get bytes', nf90_get_var(file, varid, bytes))
    print *, bytes
    call say('get shorts', nf90_get_var(file, varid, shorts))
    print *, shorts
    call say('get ints', nf90_get_var(file, varid, ints))
    print *, ints
    call say('get longs', nf90_get_var(file, varid, longs, (/1, 1/), (/6, 4/), map=(/4, 1/)))
    print *, longs
    floats = 0
    call say('get floats', nf90_get_var(file, varid, floats, start=(/2, 1/), count=(/3, 2/), stride=(/2, 3/)))
    print *, floats
    call say('get doubles', nf90_get_var(file, varid, doubles))
    print *, doubles
    call say('get single', nf90_get_var(file, varid, single, (/2, 2/)))
    call say('get int', nf90_get_var(file, recid, one, (/2, 3/)))
    print *, single, one
    call say('out of range', nf90_put_var(file, varid, -1d30, (/1, 1/)))
    call say('too many', nf90_get_var(file, varid, ints, (/2, 1/), (/6, 4/)))
    call say('negative start', nf90_get_var(file, varid, ints, (/0, 1/), (/1, 1/)))
  end subroutine

  subroutine characters_and_ranks
    character(len=8) :: words(3)
    character :: letter
    integer :: many(6, 6, 6, 6, 6, 6, 4), part(2, 3, 1, 1, 2, 1, 2), cube(2, 2, 2), k
    real(EightByteReal) :: single
    call say('put words', nf90_put_var(file, text, (/'first   ', 'second  ', '12345678'/)))
    call say('put word', nf90_put_var(file, text, 'X', (/3, 2/)))
    call say('get words', nf90_get_var(file, text, words))
    print *, words
    call say('get letter', nf90_get_var(file, text, letter, (/2, 3/)))
    print *, letter
    call say('text for a number', nf90_put_var(file, scalar, 'text'))
    call say('number for text', nf90_put_var(file, text, 5))
    call say('put single', nf90_put_var(file, scalar, 42.5d0))
    call say('get single', nf90_get_var(file, scalar, single))
    print *, single
    many = reshape((/(k, k = 1, size(many))/), shape(many))
    call say('put seven axes', nf90_put_var(file, seven, many))
    part = 0
    call say('get seven axes', nf90_get_var(file, seven, part, (/2, 1, 3, 4, 5, 6, 1/), (/2, 3, 1, 1, 2, 1, 2/), &
        (/3, 2, 1, 1, 1, 1, 3/)))
    print *, part
    cube = -1
    call say('get three of them', nf90_get_var(file, seven, cube, (/1, 1, 1, 1, 1, 1, 1/), (/2, 2, 2, 1, 1, 1, 1/)))
    print *, cube
  end subroutine

  subroutine inquire_all
    character(len=nf90_max_name) :: name, value
    integer :: dims, vars, atts, unlimited, format, i, j, kind, rank, dimids(nf90_max_var_dims), len, level, ends
    integer :: chunks(7), numbers(3)
    logical :: contiguous, shuffle, fletcher
    real(EightByteReal) :: double
    call say('open', nf90_open('out.nc', nf90_nowrite, file))
    call say('inquire', nf90_inquire(file, dims, vars, atts, unlimited, format))
    print *, dims, vars, atts, unlimited, format
    do i = 1, dims
      call say('dimension', nf90_inquire_dimension(file, i, name, len))
      print *, trim(name), len
    end do
    do i = 1, vars
      call say('variable', nf90_inquire_variable(file, i, name, kind, rank, dimids, atts))
      print *, trim(name), kind, rank, dimids(1:rank), atts
      if (four) then
        chunks = 0
        call say('stored', nf90_inquire_variable(file, i, contiguous=contiguous, chunksizes=chunks, &
            deflate_level=level, shuffle=shuffle, fletcher32=fletcher, endianness=ends))
        print *, contiguous, chunks(1:rank), level, shuffle, fletcher, ends
      end if
      do j = 1, atts
        call say('attribute', nf90_inq_attname(file, i, j, name))
        call say('attribute', nf90_inquire_attribute(file, i, trim(name), kind, len, dims))
        print *, trim(name), kind, len, dims
      end do
    end do
    value = ''
    call say('get_att', nf90_get_att(file, nf90_global, 'title', value))
    print *, trim(value)
    call say('get_att', nf90_get_att(file, varids(1), 'ints', numbers))
    print *, numbers
    call say('get_att', nf90_get_att(file, varids(1), 'double', double))
    print *, double
    call say('one for several', nf90_get_att(file, varids(1), 'byte', i))
    call say('none', nf90_get_att(file, varids(1), 'none', i))
    call say('none', nf90_inq_varid(file, 'none', i))
    call say('close', nf90_close(file))
  end subroutine

  subroutine change
    integer :: other
    call say('open', nf90_open('out.nc', nf90_write, file))
    call say('redef', nf90_redef(file))
    call say('create', nf90_create('second.nc', nf90_noclobber, other))
    call say('copy_att', nf90_copy_att(file, nf90_global, 'title', other, nf90_global))
    call say('rename_att', nf90_rename_att(other, nf90_global, 'title', 'subtitle'))
    call say('close', nf90_close(other))
    call say('create again', nf90_create('second.nc', nf90_noclobber, other))
    call say('del_att', nf90_del_att(file, varids(2), 'floats'))
    call say('def_var', nf90_def_var(file, 'later', nf90_float, (/y/), other))
    call say('enddef', nf90_enddef(file))
    call say('put', nf90_put_var(file, other, (/1., 2., 3., 4./)))
    call say('close', nf90_close(file))
  end subroutine

  subroutine groups
    integer :: inner, deeper, varid, dimid, ids(5), count, parent
    character(len=nf90_max_name) :: name
    call say('create', nf90_create('groups.nc', ior(nf90_netcdf4, nf90_clobber), file))
    call say('def_grp', nf90_def_grp(file, 'inner', inner))
    call say('def_grp', nf90_def_grp(inner, 'deeper', deeper))
    call say('def_dim', nf90_def_dim(inner, 'n', nf90_unlimited, dimid))
    call say('def_var', nf90_def_var(deeper, 'words', nf90_string, (/dimid/), varid))
    call say('def_var', nf90_def_var(deeper, 'numbers', nf90_int64, (/dimid/), varid))
    call say('put', nf90_put_var(deeper, varid, (/1_EightByteInt, 2_EightByteInt ** 40/)))
    call say('put_att', nf90_put_att(deeper, varid, 'units', 's'))
    parent = 1
    call say('inq_grps', nf90_inq_grps(file, count, ids))
    print *, count, ids(1) == inner
    call say('inq_dimids', nf90_inq_dimids(deeper, count, ids, parent))
    print *, count, ids(1:count)
    call say('inq_varids', nf90_inq_varids(deeper, count, ids))
    print *, count, ids(1:count)
    call say('inq_grp_parent', nf90_inq_grp_parent(deeper, parent))
    print *, parent == inner
    call say('inq_grpname', nf90_inq_grpname(deeper, name))
    print *, trim(name)
    call say('rename_grp', nf90_rename_grp(inner, 'innermost'))
    call say('close', nf90_close(file))
  end subroutine
end program
