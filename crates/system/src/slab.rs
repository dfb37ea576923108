//! Slots that are used again.

use std::ops::{Index, IndexMut};

/// Values under numbers that stay valid until they are removed; freed numbers are used again.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    slots: Vec<T>,
    free: Vec<usize>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    /// Keeps a value; its number.
    pub(crate) fn insert(&mut self, value: T) -> usize {
        if let Some(number) = self.free.pop() {
            self.slots[number] = value;
            number
        } else {
            self.slots.push(value);
            self.slots.len() - 1
        }
    }

    /// Takes a value out; its number must not be used again until it is given out again.
    pub(crate) fn remove(&mut self, number: usize) -> T {
        self.free.push(number);
        self.slots[number]
    }

    /// How many values are kept.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl<T> Index<usize> for Slab<T> {
    type Output = T;
    fn index(&self, number: usize) -> &T {
        &self.slots[number]
    }
}

impl<T> IndexMut<usize> for Slab<T> {
    fn index_mut(&mut self, number: usize) -> &mut T {
        &mut self.slots[number]
    }
}
