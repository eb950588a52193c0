! The FORTRAN 77 interface and that of version 2, all functions for each type: every call with its outcome.
#define PASTE(a) a
#define TEXT(t) "t"
      program f77
      implicit none
      character(len=20) form
      call get_command_argument(1, form)
      call classic_model(trim(form))
      call renamed(trim(form))
      call version2
      if (form == 'netcdf4') call new_model
      end

! Whether a read left values: with a text for a number it leaves the interface's own memory.
      logical function filled(what, status)
      implicit none
      include 'netcdf.inc'
      character(len=*) what
      integer status
      call say(what, status)
      filled = status == nf_noerr .or. status == nf_erange
      end

      subroutine say(what, status)
      implicit none
      include 'netcdf.inc'
      character(len=*) what
      integer status
      print *, what, ': ', trim(nf_strerror(status))
      end

      integer function mode_of(form)
      implicit none
      include 'netcdf.inc'
      character(len=*) form
      select case (form)
      case ('64bit-offset')
        mode_of = nf_64bit_offset
      case ('64bit-data')
        mode_of = nf_64bit_data
      case ('netcdf4')
        mode_of = nf_netcdf4
      case ('netcdf4-classic')
        mode_of = ior(nf_netcdf4, nf_classic_model)
      case default
        mode_of = nf_clobber
      end select
      end

      subroutine classic_model(form)
      implicit none
      include 'netcdf.inc'
      character(len=*) form
      character(len=24) text
      character(len=4) names(6)
      integer mode_of, kinds(11), varids(11), recids(11), count, i, ncid, x, y, t, old
      data kinds /nf_byte, nf_short, nf_int, nf_float, nf_double, nf_char, nf_ubyte, nf_ushort, nf_uint, nf_int64, nf_uint64/
      count = 6
      if (form == 'netcdf4' .or. form == '64bit-data') count = 11
      call say('create', nf_create('out.nc', ior(nf_clobber, mode_of(form)), ncid))
      call say('def_dim', nf_def_dim(ncid, 'x', 6, x))
      call say('def_dim', nf_def_dim(ncid, 'y', 4, y))
      call say('def_dim', nf_def_dim(ncid, 't', nf_unlimited, t))
      call say('def_dim twice', nf_def_dim(ncid, 't', 5, i))
      call say('title', nf_put_att_text(ncid, nf_global, 'title', 12, 'made in F 77'))
      call say('numbers', nf_put_att_double(ncid, nf_global, 'numbers', nf_double, 3, (/1.5d0, -2d0, 300d0/)))
      do i = 1, count
        call say('def_var', nf_def_var(ncid, 'v_'//char(64 + i), kinds(i), 2, (/x, y/), varids(i)))
        call say('def_var', nf_def_var(ncid, 'r_'//char(64 + i), kinds(i), 2, (/x, t/), recids(i)))
        call attributes_int1(ncid, varids(i), kinds(i))
        call attributes_int2(ncid, varids(i), kinds(i))
        call attributes_int(ncid, varids(i), kinds(i))
        call attributes_int64(ncid, varids(i), kinds(i))
        call attributes_real(ncid, varids(i), kinds(i))
        call attributes_double(ncid, varids(i), kinds(i))
        call say('text', nf_put_att_text(ncid, varids(i), 'text', 5, 'grams'))
        if (mod(i, 2) == 0 .and. form(1:7) == 'netcdf4') then
          call say('chunking', nf_def_var_chunking(ncid, varids(i), nf_chunked, (/3, 2/)))
          call say('deflate', nf_def_var_deflate(ncid, varids(i), 1, 1, i / 2))
          call say('fletcher32', nf_def_var_fletcher32(ncid, varids(i), nf_fletcher32))
          call say('endian', nf_def_var_endian(ncid, varids(i), nf_endian_big))
        end if
      end do
      call say('bad type', nf_def_var(ncid, 'bad', 77, 2, (/x, y/), i))
      call say('bad rank', nf_def_var(ncid, 'bad', nf_int, 2, (/x, 99/), i))
      call say('set_fill', nf_set_fill(ncid, nf_nofill, old))
      print *, old
      call say('set_fill', nf_set_fill(ncid, nf_fill, old))
      print *, old
      call say('enddef', nf_enddef(ncid))
      do i = 1, count
        print *, 'variable', i
        call values_int1(ncid, varids(i), recids(i))
        call values_int2(ncid, varids(i), recids(i))
        call values_int(ncid, varids(i), recids(i))
        call values_int64(ncid, varids(i), recids(i))
        call values_real(ncid, varids(i), recids(i))
        call values_double(ncid, varids(i), recids(i))
        text = 'abcdefghijklmnopqrstuvwx'
        call say('put text', nf_put_var_text(ncid, varids(i), text))
        call say('put text', nf_put_vara_text(ncid, varids(i), (/2, 3/), (/3, 2/), 'ABCDEF'))
        call say('put text', nf_put_vars_text(ncid, varids(i), (/2, 1/), (/3, 2/), (/2, 3/), 'uvwxyz'))
        call say('put text', nf_put_varm_text(ncid, varids(i), (/1, 1/), (/2, 2/), (/1, 1/), (/2, 1/), '1234'))
        call say('put text', nf_put_var1_text(ncid, varids(i), (/6, 4/), '!'))
        call say('get text', nf_get_var_text(ncid, varids(i), text))
        if (kinds(i) == nf_char) print *, text
        call say('get text', nf_get_vars_text(ncid, varids(i), (/2, 1/), (/3, 2/), (/2, 3/), text(1:6)))
        if (kinds(i) == nf_char) print *, text
      end do
      call say('put record', nf_put_vara_text(ncid, recids(6), (/1, 2/), (/6, 2/), 'record again'))
      call say('sync', nf_sync(ncid))
      call say('close', nf_close(ncid))
      call say('close twice', nf_close(ncid))
      call inquire_all('out.nc')
      end

      subroutine inquire_all(path)
      implicit none
      include 'netcdf.inc'
      character(len=*) path
      character(len=nf_max_name) name
      integer ncid, dims, vars, atts, unlimited, i, j, len, kind, rank, dimids(9), count
      integer form, storage, chunks(9), shuffle, deflate, level
      call say('open', nf_open(path, nf_nowrite, ncid))
      call say('inq', nf_inq(ncid, dims, vars, atts, unlimited))
      print *, dims, vars, atts, unlimited
      call say('inq_format', nf_inq_format(ncid, form))
      print *, form
      do i = 1, dims
        call say('inq_dim', nf_inq_dim(ncid, i, name, len))
        print *, trim(name), len
      end do
      do i = 1, vars
        call say('inq_var', nf_inq_var(ncid, i, name, kind, rank, dimids, count))
        print *, trim(name), kind, rank, dimids(1:rank), count
        do j = 1, count
          call say('inq_attname', nf_inq_attname(ncid, i, j, name))
          call say('inq_att', nf_inq_att(ncid, i, trim(name), kind, len))
          print *, trim(name), kind, len
        end do
        chunks = 0
        call say('deflate', nf_inq_var_deflate(ncid, i, shuffle, deflate, level))
        ! The original dies of the next call in other files.
        if (form == nf_format_netcdf4 .or. form == nf_format_netcdf4_classic) then
          call say('chunking', nf_inq_var_chunking(ncid, i, storage, chunks))
          print *, storage, chunks(1:2), shuffle, deflate
        end if
      end do
      call say('inq_varid', nf_inq_varid(ncid, 'v_C', i))
      call say('inq_varid of none', nf_inq_varid(ncid, 'none', j))
      call say('inq_dimid of none', nf_inq_dimid(ncid, 'none', j))
      call say('inq_attid of none', nf_inq_attid(ncid, nf_global, 'none', j))
      print *, i
      call say('not writable', nf_redef(ncid))
      call say('not writable', nf_put_var1_int(ncid, i, (/1, 1/), 5))
      call say('close', nf_close(ncid))
      call say('open of none', nf_open('none.nc', nf_nowrite, ncid))
      end

      subroutine renamed(form)
      implicit none
      include 'netcdf.inc'
      character(len=*) form
      integer mode_of, ncid, other, x, varid, hint
      hint = 4096
      call say('create', nf__create('second.nc', ior(nf_clobber, mode_of(form)), 0, hint, ncid))
      call say('def_dim', nf_def_dim(ncid, 'x', 3, x))
      call say('def_var', nf_def_var(ncid, 'ints', nf_int, 1, (/x/), varid))
      call say('fill value', nf_put_att_int(ncid, varid, '_FillValue', nf_int, 1, -7))
      call say('open', nf_open('out.nc', nf_nowrite, other))
      call say('copy_att', nf_copy_att(other, nf_global, 'title', ncid, varid))
      call say('rename_att', nf_rename_att(ncid, varid, 'title', 'name'))
      call say('rename_var', nf_rename_var(ncid, varid, 'numbers'))
      call say('rename_dim', nf_rename_dim(ncid, x, 'places'))
      call say('close', nf_close(other))
      call say('enddef', nf__enddef(ncid, 500, 4, 0, 4))
      call say('put', nf_put_var1_int(ncid, varid, (/2/), 5))
      call say('redef', nf_redef(ncid))
      call say('del_att', nf_del_att(ncid, varid, 'name'))
      call say('del_att again', nf_del_att(ncid, varid, 'name'))
      call say('close', nf_close(ncid))
      call say('open', nf_open('second.nc', nf_write, ncid))
      call say('redef', nf_redef(ncid))
      call say('def_var', nf_def_var(ncid, 'gone', nf_int, 1, (/x/), varid))
      call say('abort', nf_abort(ncid))
      call say('open', nf_open('second.nc', nf_write, ncid))
      call say('inq_varid of one that was taken back', nf_inq_varid(ncid, 'gone', varid))
      call say('inq_varid', nf_inq_varid(ncid, 'numbers', varid))
      call say('rename in data mode', nf_rename_var(ncid, varid, 'n'))
      call say('rename in data mode', nf_rename_var(ncid, varid, 'longer_than_it'))
      call say('close', nf_close(ncid))
      end

      subroutine version2
      implicit none
      include 'netcdf.inc'
      integer ncid, x, t, varid, textid, status, dims, vars, atts, unlimited, kind, rank, dimids(9), len
      integer*2 short(4)
      real values(4, 2)
      character(len=80) text
      ncid = nccre('version2.nc', ncclob, status)
      print *, status
      call ncpopt(0)
      x = ncddef(ncid, 'x', 4, status)
      t = ncddef(ncid, 't', ncunlim, status)
      varid = ncvdef(ncid, 'reals', ncfloat, 2, (/x, t/), status)
      textid = ncvdef(ncid, 'text', ncchar, 1, (/x/), status)
      call ncaptc(ncid, varid, 'units', ncchar, 5, 'grams', status)
      short = (/1, 2, 3, 4/)
      call ncapt(ncid, ncglobal, 'shorts', ncshort, 4, short, status)
      call ncendf(ncid, status)
      print *, status
      values = reshape((/1., 2., 3., 4., 5., 6., 7., 8./), (/4, 2/))
      call ncvpt(ncid, varid, (/1, 1/), (/4, 2/), values, status)
      print *, status
      call ncvpt1(ncid, varid, (/2, 1/), -1.5, status)
      print *, status
      call ncvptc(ncid, textid, (/1/), (/4/), 'WORD', 4, status)
      print *, status
      call ncvptg(ncid, varid, (/1, 1/), (/2, 2/), (/2, 1/), (/4, 16/), values, status)
      print *, status
      call ncclos(ncid, status)
      ncid = ncopn('version2.nc', ncrdwr, status)
      call ncinq(ncid, dims, vars, atts, unlimited, status)
      print *, dims, vars, atts, unlimited, status
      call ncvinq(ncid, varid, text, kind, rank, dimids, atts, status)
      print *, text(1:5), kind, rank, dimids(1:2), atts, status
      values = 0
      call ncvgt(ncid, varid, (/1, 1/), (/4, 2/), values, status)
      print *, values, status
      call ncvgtc(ncid, textid, (/2/), (/2/), text, 2, status)
      print *, text(1:2), status
      call ncagtc(ncid, varid, 'units', text, 80, status)
      print *, text(1:5), status
      call ncainq(ncid, ncglobal, 'shorts', kind, len, status)
      print *, kind, len, status
      call ncagt(ncid, ncglobal, 'none', short, status)
      print *, status
      call ncredf(ncid, status)
      call ncvren(ncid, varid, 'floats', status)
      call ncdren(ncid, x, 'places', status)
      call ncadel(ncid, ncglobal, 'shorts', status)
      print *, status
      call ncclos(ncid, status)
      print *, status
      end

      subroutine new_model
      implicit none
      include 'netcdf.inc'
      integer ncid, inner, deeper, x, pair, rows, colour, blob, ids(4), count, i, size, base, fields, class
      integer numbers(4), rank
      character(len=nf_max_name) name
      double precision records(2, 3)
      integer*1 colours(3), blobs(8, 3)
      data blobs /1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24/
      call say('create', nf_create('types.nc', ior(nf_clobber, nf_netcdf4), ncid))
      call say('def_grp', nf_def_grp(ncid, 'inner', inner))
      call say('def_grp', nf_def_grp(inner, 'deeper', deeper))
      call say('def_grp twice', nf_def_grp(ncid, 'inner', i))
      call say('def_dim', nf_def_dim(ncid, 'x', 3, x))
      call say('compound', nf_def_compound(ncid, 16, 'pair', pair))
      call say('insert', nf_insert_compound(ncid, pair, 'first', 0, nf_double))
      call say('insert', nf_insert_array_compound(ncid, pair, 'second', 8, nf_float, 1, (/2/)))
      call say('enum', nf_def_enum(ncid, nf_byte, 'colour', colour))
      call say('member', nf_insert_enum(ncid, colour, 'red', 1_1))
      call say('member', nf_insert_enum(ncid, colour, 'green', 5_1))
      call say('opaque', nf_def_opaque(inner, 8, 'blob', blob))
      call say('vlen', nf_def_vlen(inner, 'rows', nf_int, rows))
      call say('def_var', nf_def_var(ncid, 'pairs', pair, 1, (/x/), ids(1)))
      call say('def_var', nf_def_var(ncid, 'colours', colour, 1, (/x/), ids(2)))
      call say('def_var', nf_def_var(inner, 'blobs', blob, 1, (/x/), ids(3)))
      call say('no_fill', nf_def_var_fill(inner, ids(3), 1, blobs))
      call say('def_var', nf_def_var(deeper, 'rows', rows, 1, (/x/), ids(4)))
      records = reshape((/1d0, 2d0, 3d0, 4d0, 5d0, 6d0/), (/2, 3/))
      call say('put', nf_put_var(ncid, ids(1), records))
      colours = (/1_1, 5_1, 1_1/)
      call say('put', nf_put_var(ncid, ids(2), colours))
      call say('put', nf_put_var(inner, ids(3), blobs))
      call say('close', nf_close(ncid))

      call say('open', nf_open('types.nc', nf_nowrite, ncid))
      call say('inq_grps', nf_inq_grps(ncid, count, numbers))
      print *, count
      call say('inq_ncid', nf_inq_ncid(ncid, 'inner', inner))
      call say('full name', nf_inq_grpname_full(inner, i, name))
      print *, i, name(1:i)
      call say('full id', nf_inq_grp_full_ncid(ncid, '/inner/deeper', deeper))
      call say('parent', nf_inq_grp_parent(deeper, i))
      print *, i == inner
      call say('inq_varids', nf_inq_varids(ncid, count, numbers))
      print *, count, numbers(1:count)
      call say('inq_typeids', nf_inq_typeids(ncid, count, numbers))
      do i = 1, count
        call say('type', nf_inq_user_type(ncid, numbers(i), name, size, base, fields, class))
        print *, size, base, fields, class
      end do
      call say('compound', nf_inq_compound(ncid, numbers(1), name, size, fields))
      call say('field', nf_inq_compound_fieldname(ncid, numbers(1), 2, name))
      call say('field', nf_inq_compound_fieldoffset(ncid, numbers(1), 2, i))
      call say('field', nf_inq_compound_fieldndims(ncid, numbers(1), 2, rank))
      print *, i, rank
      records = 0
      call say('get', nf_get_var(ncid, ids(1), records))
      print *, records
      colours = 0
      call say('get', nf_get_vara(ncid, ids(2), (/2/), (/2/), colours))
      print *, colours
      blobs = 0
      call say('get', nf_get_var(inner, ids(3), blobs))
      print *, blobs
      call say('close', nf_close(ncid))
      end

#define T int1
#define D integer*1
#define V(i) int((i) * 5, 1)
#include "f77_values.inc"
#define T int2
#define D integer*2
#define V(i) int((i) * 15 - 20, 2)
#include "f77_values.inc"
#define T int
#define D integer
#define V(i) ((i) ** 4 - 20)
#include "f77_values.inc"
#define T int64
#define D integer*8
#define V(i) (int(i, 8) ** 9 - 20)
#include "f77_values.inc"
#define T real
#define D real
#define V(i) ((i) ** 4 / 2.)
#include "f77_values.inc"
#define T double
#define D double precision
#define V(i) (((i) - 3) ** 9 / 2d0)
#include "f77_values.inc"
