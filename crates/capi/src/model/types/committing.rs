//! Types that were being defined become types of the file, which nobody changes any more.

use std::ffi::c_int;
use std::sync::{Arc, PoisonError};

use isotach::model::{Atomic, DataType, Field, UserClass, UserType};

use super::{EnumMember, FieldNode, OpenFile, TypeClass, TypeNode, Types, atomic};
use crate::status::{Outcome, Status};

/// HDF5 has no arrays with more axes.
const MAX_AXES: usize = 32;

impl OpenFile {
    /// Gives the engine the types that were still open, in order: from now on they stay as they are.
    ///
    /// # Errors
    /// Of the first that cannot be, which stays open as do those that are made of it: `NC_EBADTYPE` where it
    /// is made of a type that is none, `NC_EINVAL` for an enumeration without members, `NC_EHDFERR` for all
    /// that HDF5 refuses.
    pub(crate) fn commit_types(&self) -> Outcome {
        let mut types = self.types.write().unwrap_or_else(PoisonError::into_inner);
        let mut outcome = Ok(());
        for index in 0..types.nodes.len() {
            outcome = outcome.and(self.commit_type(&mut types, index));
        }
        outcome
    }

    fn commit_type(&self, types: &mut Types, index: usize) -> Outcome {
        let Some(node) = types.nodes.get(index).filter(|node| node.user.is_none()) else {
            return Ok(());
        };
        let user = node.finished(types)?;
        let defined = self.group(node.group)?.writing()?.define_type(user)?;
        if let (Some(node), DataType::User(user)) = (types.nodes.get_mut(index), defined) {
            Arc::make_mut(node).user = Some(user);
        }
        Ok(())
    }

    /// Looks at the types again: a group that they lie in was renamed. Their ids stay.
    pub(crate) fn renew_types(&self) -> Outcome {
        let mut types = self.types.write().unwrap_or_else(PoisonError::into_inner);
        for node in &mut types.nodes {
            let Some(old) = &node.user else { continue };
            let of_group = self.group(node.group)?.group().types()?;
            let renewed = of_group.iter().find(|user| user.name == node.name);
            if let Some(renewed) = renewed.filter(|renewed| renewed.group != old.group) {
                let (old, renewed) = (Arc::clone(old), Arc::clone(renewed));
                let node = Arc::make_mut(node);
                node.former.push(old);
                node.user = Some(renewed);
            }
        }
        Ok(())
    }
}

impl TypeNode {
    /// The type as the engine takes it.
    fn finished(&self, types: &Types) -> Outcome<UserType> {
        let refused = |_| Status::EHDFERR;
        match &self.class {
            TypeClass::Opaque => UserType::opaque(&self.name, self.size).map_err(refused),
            TypeClass::Vlen { base } => {
                UserType::vlen(&self.name, types.part(*base)?).map_err(refused)
            }
            TypeClass::Enum { members, .. } if members.is_empty() => Err(Status::EINVAL),
            TypeClass::Enum { base, members } => {
                let base = atomic(*base).ok_or(Status::EHDFERR)?;
                let member = |EnumMember { name, value }: &EnumMember| {
                    Ok((name.clone(), enum_value(base, value).ok_or(Status::EHDFERR)?))
                };
                let members: Vec<_> = members.iter().map(member).collect::<Outcome<_>>()?;
                UserType::enumeration(&self.name, base, members).map_err(refused)
            }
            TypeClass::Compound(fields) => {
                let fields: Vec<Field> =
                    fields.iter().map(|field| field.finished(types)).collect::<Outcome<_>>()?;
                check_places(&fields, self.size)?;
                let class = UserClass::Compound(fields);
                // The engine says the group.
                let (name, group) = (self.name.clone(), String::new());
                Ok(UserType { name, group, size: self.size, class })
            }
        }
    }
}

impl FieldNode {
    fn finished(&self, types: &Types) -> Outcome<Field> {
        let len = |&len: &c_int| usize::try_from(len).ok().filter(|&len| len > 0);
        let shape: Option<Vec<usize>> = self.shape.iter().map(len).collect();
        let shape = shape.filter(|shape| shape.len() <= MAX_AXES).ok_or(Status::EHDFERR)?;
        let data_type = types.part(self.type_id)?;
        Ok(Field { name: self.name.clone(), offset: self.offset, data_type, shape })
    }
}

impl Types {
    /// What a type is made of has to be there before it.
    fn part(&self, id: c_int) -> Outcome<DataType> {
        match atomic(id) {
            Some(atomic) => Ok(atomic.into()),
            None => self.get(id)?.user.clone().map(DataType::User).ok_or(Status::EHDFERR),
        }
    }
}

/// Members have names of their own, lie within the element, and do not overlap.
fn check_places(fields: &[Field], size: usize) -> Outcome {
    let end_of = |field: &Field| {
        let bytes = |bytes: usize, &len: &usize| bytes.checked_mul(len);
        let bytes = field.shape.iter().try_fold(field.data_type.layout().size, bytes)?;
        field.offset.checked_add(bytes)
    };
    let mut sorted: Vec<&Field> = fields.iter().collect();
    sorted.sort_by_key(|field| field.offset);
    let mut end = 0;
    for field in &sorted {
        let begins_free = field.offset >= end;
        end = end_of(field).filter(|_| begins_free).ok_or(Status::EHDFERR)?;
    }
    sorted.sort_by_key(|field| &field.name);
    let has_twins = sorted.windows(2).any(|pair| pair[0].name == pair[1].name);
    let fits = end <= size && u32::try_from(size).is_ok();
    if fields.is_empty() || has_twins || !fits { Err(Status::EHDFERR) } else { Ok(()) }
}

/// An integer in as many bytes as its type has.
pub(super) fn enum_bytes(base: Atomic, value: i128) -> Box<[u8]> {
    let (wide, size) = ((value as i64).to_ne_bytes(), base.size());
    let bytes = if cfg!(target_endian = "big") { &wide[8 - size..] } else { &wide[..size] };
    bytes.into()
}

/// The integer that these bytes are; `None` for what is none.
pub(crate) fn enum_value(base: Atomic, bytes: &[u8]) -> Option<i128> {
    let range = base.integer_range()?;
    let mut wide = [0; 8];
    let size = bytes.len();
    let place = if cfg!(target_endian = "big") { 8_usize.checked_sub(size)?..8 } else { 0..size };
    wide.get_mut(place)?.copy_from_slice(bytes);
    let unsigned = i128::from(u64::from_ne_bytes(wide));
    let modulus = 1_i128.checked_shl(u32::try_from(size).ok()? * 8)?;
    Some(if range.contains(&unsigned) { unsigned } else { unsigned - modulus })
}
