//! A lock whose value no fork loses.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use super::{Lock, Renewing};

/// A value that many read and few change, for what cannot be found again: a forked process has it as it was before
/// a change that another thread of its parent was making, or after it.
///
/// It is there twice, and never more than one of the two is being changed. So it takes the memory and the
/// time of two; readers pay nothing for it.
pub struct Kept<T: Default + Clone>(Renewing<Twice<T>>);

struct Twice<T> {
    /// Held by who changes: the others wait here, and not for `shown`, so that in a child only the thread that
    /// was changing it keeps anybody out.
    changing: Mutex<()>,
    shown: RwLock<T>,
    /// Changed after `shown`, and looked at by forked processes alone.
    copy: Mutex<T>,
}

impl<T: Default + Clone> Kept<T> {
    /// A value, which is kept from now on.
    pub fn new(value: T) -> Self {
        Self(Renewing::new(crate::process::generation(), Twice::new(value.clone(), value)))
    }

    /// One that is there before the process is; `same` is the same value once more.
    pub const fn fixed(value: T, same: T) -> Self {
        Self(Renewing::new(0, Twice::new(value, same)))
    }

    /// The value, which does not change meanwhile.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.present().shown.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes it, once for each of the two: `change` must do the same to both. What it makes of the first is the
    /// answer.
    pub fn change<A>(&self, mut change: impl FnMut(&mut T) -> A) -> A {
        let both = self.0.present();
        let _only = entered(&both.changing);
        let answer = change(&mut both.shown.write().unwrap_or_else(PoisonError::into_inner));
        change(&mut entered(&both.copy));
        answer
    }
}

impl<T: Default + Clone> Default for Kept<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Twice<T> {
    const fn new(value: T, same: T) -> Self {
        Self { changing: Mutex::new(()), shown: RwLock::new(value), copy: Mutex::new(same) }
    }
}

impl<T: Default + Clone> Lock for Twice<T> {
    fn taken_over(&self) -> Option<Self> {
        // Where the one is held, it is being changed, and nobody changes or waits for the other.
        let found = match self.copy.try_lock() {
            Ok(copy) => copy.clone(),
            Err(std::sync::TryLockError::Poisoned(copy)) => copy.into_inner().clone(),
            Err(std::sync::TryLockError::WouldBlock) => match self.shown.try_read() {
                Ok(shown) => shown.clone(),
                Err(std::sync::TryLockError::Poisoned(shown)) => shown.into_inner().clone(),
                Err(std::sync::TryLockError::WouldBlock) => return None,
            },
        };
        Some(Self::new(found.clone(), found))
    }

    fn empty() -> Self {
        Self::new(T::default(), T::default())
    }

    fn is_free(&self) -> bool {
        self.changing.try_lock().is_ok() && self.shown.try_write().is_ok()
    }
}

fn entered<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_parent;
    use super::*;

    #[test]
    fn whichever_of_the_two_is_being_changed_the_other_is_kept() {
        for shown in [true, false] {
            let kept = Kept(of_parent(Twice::new(vec![1, 2], vec![1, 2])));
            let parents = &kept.0.first.lock;
            let only = parents.changing.lock().unwrap();
            let held = shown.then(|| parents.shown.write().unwrap());
            let copied = (!shown).then(|| parents.copy.lock().unwrap());
            assert_eq!(*kept.read(), [1, 2]);
            let len = kept.change(|value| {
                value.push(3);
                value.len()
            });
            assert_eq!((len, kept.read().len()), (3, 3));
            drop((only, held, copied));
            assert_eq!(*kept.read(), [1, 2, 3]);
        }
    }

    #[test]
    fn readers_and_who_waits_for_them_take_nothing_away() {
        let kept = Kept(of_parent(Twice::new(7, 7)));
        let parents = &kept.0.first.lock;
        let reader = parents.shown.read().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _only = parents.changing.lock().unwrap();
                *parents.shown.write().unwrap() = 8;
            });
            while parents.changing.try_lock().is_ok() {
                std::thread::yield_now();
            }
            assert_eq!(*kept.read(), 7);
            drop(reader);
        });
    }
}
