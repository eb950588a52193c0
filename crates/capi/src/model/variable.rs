//! A variable of an open file, and what C programs say of it that is not in the file.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use isotach::sync::{Mutex, OnceLock};
use isotach::{Variable, VariableWriter};

use super::AttributeList;
use crate::status::{Outcome, Status};
use crate::variable::Said;

/// A variable of an open file.
pub(crate) struct VariableNode {
    /// Its varid.
    pub(crate) id: c_int,
    pub(crate) variable: Variable,
    /// Where the file may be changed.
    writer: Option<VariableWriter>,
    settings: Arc<Settings>,
    /// Kept where the file is only read.
    pub(crate) attributes: OnceLock<AttributeList>,
}

/// What stays the same for a variable when it is renamed.
struct Settings {
    /// Whether it was defined since data mode: then it can still be said how it is stored.
    is_open: AtomicBool,
    said: Mutex<Said>,
}

impl VariableNode {
    /// A variable that was there when the file was opened.
    pub(super) fn existing(id: c_int, variable: Variable, writer: Option<VariableWriter>) -> Self {
        let settings =
            Arc::new(Settings { is_open: AtomicBool::new(false), said: Mutex::default() });
        Self { id, variable, writer, settings, attributes: OnceLock::new() }
    }

    /// A variable that was just defined.
    pub(super) fn defined(
        id: c_int,
        variable: Variable,
        writer: VariableWriter,
        said: Said,
    ) -> Self {
        let settings =
            Arc::new(Settings { is_open: AtomicBool::new(true), said: Mutex::new(said) });
        Self { id, variable, writer: Some(writer), settings, attributes: OnceLock::new() }
    }

    /// The same variable under the name and path that it has now.
    pub(super) fn renewed(&self) -> Outcome<Self> {
        let variable = match &self.writer {
            Some(writer) => writer.variable()?,
            None => self.variable.clone(),
        };
        let settings = Arc::clone(&self.settings);
        Ok(Self {
            id: self.id,
            variable,
            writer: self.writer.clone(),
            settings,
            attributes: OnceLock::new(),
        })
    }

    /// The writer.
    ///
    /// # Errors
    /// `NC_EPERM` where the file was opened for reading.
    pub(crate) fn writer(&self) -> Outcome<&VariableWriter> {
        self.writer.as_ref().ok_or(Status::EPERM)
    }

    /// Whether how it is stored can still be said.
    pub(crate) fn is_open(&self) -> bool {
        self.settings.is_open.load(Ordering::Relaxed)
    }

    /// Says that from now on it is stored as it is.
    pub(super) fn close(&self) {
        self.settings.is_open.store(false, Ordering::Relaxed);
    }

    /// What C programs said of it.
    pub(crate) fn said(&self) -> MutexGuard<'_, Said> {
        self.settings.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
