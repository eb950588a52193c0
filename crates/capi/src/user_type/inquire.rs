//! What types are.

use std::borrow::Cow;
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use isotach::model::{DataType, names};

use crate::boundary::{answer, answer_at_once, counted, put, put_list, put_text, text};
use crate::group::{at_path, enhanced};
use crate::handle;
use crate::model::{LAST_ATOMIC, OpenFile, TypeClass, TypeNode, atomic, class, enum_value};
use crate::status::{Outcome, Status};

/// `NC_DOUBLE`, the last of the types that classic files have by name.
const LAST_CLASSIC: c_int = 6;
/// What an enumeration's value 0 is called where it has no such member.
const UNDEFINED_MEMBER: &str = "_UNDEFINED";

impl OpenFile {
    /// Bytes of an element in a C program's memory.
    ///
    /// # Errors
    /// Those of [`OpenFile::editable_type`].
    pub(crate) fn element_size(&self, id: c_int) -> Outcome<usize> {
        match atomic(id) {
            Some(atomic) => Ok(DataType::from(atomic).layout().size),
            None => Ok(self.editable_type(id)?.size),
        }
    }
}

fn user_type(group: c_int, id: c_int) -> Outcome<Arc<TypeNode>> {
    enhanced(group)?.0.user_type(id)
}

/// The name and size of any type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_type(
    group: c_int,
    id: c_int,
    name: *mut c_char,
    size: *mut usize,
) -> c_int {
    answer_at_once(|| {
        // These need no file.
        if let Some(atomic) = atomic(id) {
            // SAFETY: the caller's room for a name and place for a size.
            unsafe {
                put_text(name, atomic.name());
                put(size, DataType::from(atomic).layout().size);
            }
            return Ok(());
        }
        if id <= 0 || !handle::any_file(group).is_ok_and(|file| file.is_hdf5()) {
            return Err(Status::EBADTYPE);
        }
        let node = user_type(group, id)?;
        // SAFETY: the caller's room for a name and place for a size.
        unsafe {
            put_text(name, &node.name);
            put(size, node.size);
        }
        Ok(())
    })
}

/// Where the caller wants to know what a type is.
#[derive(Clone, Copy)]
struct Wanted {
    name: *mut c_char,
    size: *mut usize,
    base: *mut c_int,
    members: *mut usize,
}

impl Wanted {
    const NOTHING: Self = Self {
        name: std::ptr::null_mut(),
        size: std::ptr::null_mut(),
        base: std::ptr::null_mut(),
        members: std::ptr::null_mut(),
    };

    /// Tells it; gives the class.
    unsafe fn tell(self, group: c_int, id: c_int) -> Outcome<c_int> {
        let node = user_type(group, id)?;
        let (base, members) = match &node.class {
            TypeClass::Compound(fields) => (0, fields.len()),
            TypeClass::Enum { base, members } => (*base, members.len()),
            TypeClass::Opaque => (0, 0),
            TypeClass::Vlen { base } => (*base, 0),
        };
        // SAFETY: the caller's room for a name and places for numbers.
        unsafe {
            put_text(self.name, &node.name);
            put(self.size, node.size);
            put(self.base, base);
            put(self.members, members);
        }
        Ok(node.class.number())
    }

    /// The same as what is returned for a type that should be of that class; it is told in any case.
    unsafe fn answer(self, group: c_int, id: c_int, class: c_int) -> c_int {
        // SAFETY: the caller's promise.
        answer(|| match unsafe { self.tell(group, id) }? {
            found if found == class => Ok(()),
            _ => Err(Status::EBADTYPE),
        })
    }
}

/// What a user-defined type is; each result may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_user_type(
    group: c_int,
    id: c_int,
    name: *mut c_char,
    size: *mut usize,
    base: *mut c_int,
    members: *mut usize,
    class: *mut c_int,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's places.
        let found = unsafe { Wanted { name, size, base, members }.tell(group, id) }?;
        // SAFETY: the caller's place for a class.
        unsafe { put(class, found) };
        Ok(())
    })
}

/// What a compound type is; each result may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_compound(
    group: c_int,
    id: c_int,
    name: *mut c_char,
    size: *mut usize,
    members: *mut usize,
) -> c_int {
    // SAFETY: the caller's places.
    unsafe { Wanted { name, size, members, ..Wanted::NOTHING }.answer(group, id, class::COMPOUND) }
}

/// A compound type's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_compound_name(group: c_int, id: c_int, name: *mut c_char) -> c_int {
    // SAFETY: the caller's room for a name.
    unsafe { Wanted { name, ..Wanted::NOTHING }.answer(group, id, class::COMPOUND) }
}

/// The bytes of an element of a compound type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_compound_size(group: c_int, id: c_int, size: *mut usize) -> c_int {
    // SAFETY: the caller's place for a size.
    unsafe { Wanted { size, ..Wanted::NOTHING }.answer(group, id, class::COMPOUND) }
}

/// How many members a compound type has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_compound_nfields(
    group: c_int,
    id: c_int,
    members: *mut usize,
) -> c_int {
    // SAFETY: the caller's place for a count.
    unsafe { Wanted { members, ..Wanted::NOTHING }.answer(group, id, class::COMPOUND) }
}

/// What a type of sequences is; each result may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_vlen(
    group: c_int,
    id: c_int,
    name: *mut c_char,
    size: *mut usize,
    base: *mut c_int,
) -> c_int {
    // SAFETY: the caller's places.
    unsafe { Wanted { name, size, base, ..Wanted::NOTHING }.answer(group, id, class::VLEN) }
}

/// What an opaque type is; each result may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_opaque(
    group: c_int,
    id: c_int,
    name: *mut c_char,
    size: *mut usize,
) -> c_int {
    // SAFETY: the caller's places.
    unsafe { Wanted { name, size, ..Wanted::NOTHING }.answer(group, id, class::OPAQUE) }
}

/// What an enumeration is; each result may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_enum(
    group: c_int,
    id: c_int,
    name: *mut c_char,
    base: *mut c_int,
    size: *mut usize,
    members: *mut usize,
) -> c_int {
    // SAFETY: the caller's places.
    unsafe { Wanted { name, size, base, members }.answer(group, id, class::ENUM) }
}

/// A member of an enumeration by its place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_enum_member(
    group: c_int,
    id: c_int,
    index: c_int,
    name: *mut c_char,
    value: *mut c_void,
) -> c_int {
    answer(|| {
        let node = user_type(group, id)?;
        let TypeClass::Enum { members, .. } = &node.class else { return Err(Status::EBADTYPE) };
        let index = usize::try_from(index).map_err(|_| Status::EINVAL)?;
        let member = members.get(index).ok_or(Status::EINVAL)?;
        // SAFETY: the caller's room for a name and a value of the base type.
        unsafe {
            put_text(name, &member.name);
            put_list(value.cast(), &member.value);
        }
        Ok(())
    })
}

/// The name of the first member of an enumeration that has that value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_enum_ident(
    group: c_int,
    id: c_int,
    value: i64,
    name: *mut c_char,
) -> c_int {
    answer(|| {
        let node = user_type(group, id)?;
        let TypeClass::Enum { base, members } = &node.class else { return Err(Status::EBADTYPE) };
        let base = atomic(*base).ok_or(Status::EINVAL)?;
        // As long as C's: the largest of unsigned integers are negative.
        let has_value = |bytes| enum_value(base, bytes).is_some_and(|found| found as i64 == value);
        let found = members.iter().find(|member| has_value(&member.value));
        let found = match found {
            Some(member) => &*member.name,
            // What was never written is 0, whether or not the type has it.
            None if value == 0 => UNDEFINED_MEMBER,
            None => return Err(Status::EINVAL),
        };
        // SAFETY: the caller's room for a name.
        unsafe { put_text(name, found) };
        Ok(())
    })
}

/// The place of a compound type's member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_compound_fieldindex(
    group: c_int,
    id: c_int,
    name: *const c_char,
    index: *mut c_int,
) -> c_int {
    answer(|| {
        let (file, _) = enhanced(group)?;
        let node = file.editable_type(id)?;
        let TypeClass::Compound(fields) = &node.class else { return Err(Status::EBADTYPE) };
        // SAFETY: the caller's string.
        let name = looked_for(unsafe { text(name) }?)?;
        let found = fields.iter().position(|field| field.name == *name);
        // SAFETY: the caller's place for an index.
        unsafe { put(index, counted(found.ok_or(Status::EBADFIELD)?)?) };
        Ok(())
    })
}

/// A name in composed form, whether or not a new thing could be called so.
fn looked_for(name: &str) -> Outcome<Cow<'_, str>> {
    let name = names::normalized(name);
    match name.len() > names::MAX_NAME_BYTES {
        true => Err(Status::EMAXNAME),
        false => Ok(name),
    }
}

/// Where the caller wants to know what a member of a compound type is.
#[derive(Clone, Copy)]
struct WantedField {
    name: *mut c_char,
    offset: *mut usize,
    type_id: *mut c_int,
    axes: *mut c_int,
    lens: *mut c_int,
}

impl WantedField {
    const NOTHING: Self = Self {
        name: std::ptr::null_mut(),
        offset: std::ptr::null_mut(),
        type_id: std::ptr::null_mut(),
        axes: std::ptr::null_mut(),
        lens: std::ptr::null_mut(),
    };

    /// Tells it; gives what is returned.
    unsafe fn answer(self, group: c_int, id: c_int, index: c_int) -> c_int {
        answer(|| {
            let node = user_type(group, id)?;
            let fields = match &node.class {
                TypeClass::Compound(fields) => fields.as_slice(),
                TypeClass::Opaque => &[],
                TypeClass::Enum { .. } | TypeClass::Vlen { .. } => return Err(Status::EBADTYPE),
            };
            let index = usize::try_from(index).map_err(|_| Status::EBADFIELD)?;
            let field = fields.get(index).ok_or(Status::EBADFIELD)?;
            // SAFETY: the caller's room for a name, places for numbers, and as many lengths as axes.
            unsafe {
                put_text(self.name, &field.name);
                put(self.offset, field.offset);
                put(self.type_id, field.type_id);
                put(self.axes, counted(field.shape.len())?);
                put_list(self.lens, &field.shape);
            }
            Ok(())
        })
    }
}

/// A member of a compound type; each result may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_compound_field(
    group: c_int,
    id: c_int,
    index: c_int,
    name: *mut c_char,
    offset: *mut usize,
    type_id: *mut c_int,
    axes: *mut c_int,
    lens: *mut c_int,
) -> c_int {
    // SAFETY: the caller's places.
    unsafe { WantedField { name, offset, type_id, axes, lens }.answer(group, id, index) }
}

/// The single facts about a member of a compound type.
macro_rules! field_facts {
    ($($(#[$doc:meta])* $function:ident($wanted:ident: $type:ty);)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(
            group: c_int,
            id: c_int,
            index: c_int,
            $wanted: *mut $type,
        ) -> c_int {
            // SAFETY: the caller's place.
            unsafe { WantedField { $wanted, ..WantedField::NOTHING }.answer(group, id, index) }
        }
    )*};
}

field_facts! {
    /// A member's name.
    nc_inq_compound_fieldname(name: c_char);
    /// Where a member lies in an element.
    nc_inq_compound_fieldoffset(offset: usize);
    /// A member's type.
    nc_inq_compound_fieldtype(type_id: c_int);
    /// How many axes a member has.
    nc_inq_compound_fieldndims(axes: c_int);
    /// A member's lengths along its axes.
    nc_inq_compound_fielddim_sizes(lens: c_int);
}

/// The types that a group defines.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_typeids(group: c_int, count: *mut c_int, ids: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = handle::group(group)?;
        let found = file.types_of(group.number)?;
        // SAFETY: the caller's places for a count and as many ids.
        unsafe {
            put(count, counted(found.len())?);
            put_list(ids, &found);
        }
        Ok(())
    })
}

/// The type of that name: in the group, those above it, anywhere; or at that path.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_typeid(group: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    answer(|| {
        let file = handle::file(group)?;
        // SAFETY: the caller's string.
        let name = match unsafe { text(name) } {
            // No type of a classic file is called so.
            Err(Status::EBADNAME) if !file.is_hdf5() => return Err(Status::ENOTNC4),
            name => name?,
        };
        let by_name = |&id: &c_int| atomic(id).is_some_and(|atomic| atomic.name() == name);
        let found = match (1..=LAST_ATOMIC).find(by_name) {
            Some(id) if file.is_hdf5() || id <= LAST_CLASSIC => id,
            _ if !file.is_hdf5() => return Err(Status::ENOTNC4),
            None if name == "none" => 0,
            Some(id) => id,
            None => named_type(group, name)?,
        };
        // SAFETY: the caller's place for an id.
        unsafe { put(id, found) };
        Ok(())
    })
}

fn named_type(group: c_int, name: &str) -> Outcome<c_int> {
    let (file, group) = handle::group(group)?;
    let name = looked_for(name)?;
    let in_group =
        |number: u16, name: &str| file.find_type(|node| node.group == number && node.name == name);
    if let Some((group, name)) = at_path(&file, &name)? {
        return in_group(group.number, name);
    }
    for group in file.with_ancestors(group) {
        match in_group(group?.number, &name) {
            Err(Status::EBADTYPE) => {}
            found => return found,
        }
    }
    // Each group before those in it, and these before the next one.
    let mut groups = vec![file.group(0)?];
    while let Some(group) = groups.pop() {
        match in_group(group.number, &name) {
            Err(Status::EBADTYPE) => {}
            found => return found,
        }
        groups.extend(file.groups_of(group.number)?.into_iter().rev());
    }
    Err(Status::EBADTYPE)
}

/// Whether two types, maybe of two files, are the same but for their names.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_type_equal(
    group_a: c_int,
    a: c_int,
    group_b: c_int,
    b: c_int,
    equal: *mut c_int,
) -> c_int {
    answer(|| {
        let file = handle::any_file(group_a)?;
        if equal.is_null() {
            return Ok(());
        }
        if a <= 0 || b <= 0 {
            return Err(Status::EINVAL);
        }
        // One number behind the last type counts as one that is known.
        let is_known = if file.is_hdf5() {
            a <= LAST_ATOMIC + 1 || b <= LAST_ATOMIC
        } else {
            a <= LAST_CLASSIC && b <= LAST_CLASSIC
        };
        let one_is_atomic = (a <= LAST_ATOMIC) != (b <= LAST_ATOMIC);
        let found = if is_known || one_is_atomic {
            a == b
        } else if !file.is_hdf5() {
            false
        } else {
            let file_of = |group, id| -> Outcome<_> {
                let file = handle::file(group)?;
                file.user_type(id)?;
                Ok(file)
            };
            let (file_a, file_b) = (file_of(group_a, a)?, file_of(group_b, b)?);
            are_equal((&file_a, a), (&file_b, b))?
        };
        // SAFETY: not NULL, so the caller's place for a number.
        unsafe { put(equal, c_int::from(found)) };
        Ok(())
    })
}

type TypeOf<'a> = (&'a OpenFile, c_int);

/// Types that are committed never contain themselves.
fn are_equal(a: TypeOf<'_>, b: TypeOf<'_>) -> Outcome<bool> {
    if a.1 <= LAST_ATOMIC || b.1 <= LAST_ATOMIC {
        return Ok(a.1 == b.1);
    }
    let (node_a, node_b) = (a.0.user_type(a.1)?, b.0.user_type(b.1)?);
    if node_a.user.is_none() || node_b.user.is_none() {
        return Err(Status::EHDFERR);
    }
    let parts_are_equal = |part_a: c_int, part_b: c_int| are_equal((a.0, part_a), (b.0, part_b));
    match (&node_a.class, &node_b.class) {
        (TypeClass::Opaque, TypeClass::Opaque) => Ok(node_a.size == node_b.size),
        (TypeClass::Vlen { base: a }, TypeClass::Vlen { base: b }) => parts_are_equal(*a, *b),
        (
            TypeClass::Enum { base: base_a, members: a },
            TypeClass::Enum { base: base_b, members: b },
        ) => {
            let has = |member: &_| a.contains(member);
            Ok(base_a == base_b && a.len() == b.len() && b.iter().all(has))
        }
        (TypeClass::Compound(a), TypeClass::Compound(b)) if a.len() == b.len() => {
            for (a, b) in a.iter().zip(b) {
                let looks_equal = a.name == b.name && a.shape == b.shape;
                if !looks_equal || !parts_are_equal(a.type_id, b.type_id)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}
