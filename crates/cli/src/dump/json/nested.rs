//! Brackets around the elements of an array that come one by one.

/// Where in an array the next element stands.
pub(super) struct Nested {
    shape: Vec<u64>,
    indices: Vec<u64>,
    is_within: bool,
}

impl Nested {
    /// The beginning of an array without empty axes.
    pub(super) fn new(shape: Vec<u64>) -> Self {
        Self { indices: vec![0; shape.len()], shape, is_within: false }
    }

    /// What stands before the next element.
    pub(super) fn begin(&mut self, json: &mut Vec<u8>) {
        let at_begin = self.innermost_at_begin();
        if at_begin < self.indices.len() {
            json.extend_from_slice(b", ");
        }
        json.extend(std::iter::repeat_n(b'[', at_begin));
        self.is_within = true;
    }

    /// What stands behind it.
    pub(super) fn end(&mut self, json: &mut Vec<u8>) {
        for (index, &len) in self.indices.iter_mut().zip(&self.shape).rev() {
            *index += 1;
            if *index < len {
                break;
            }
            *index = 0;
            json.push(b']');
        }
        self.is_within = false;
    }

    /// Closes what is open, where no more elements come than those that came.
    pub(super) fn cut(&self, json: &mut Vec<u8>) {
        let closed = if self.is_within { 0 } else { self.innermost_at_begin() };
        json.extend(std::iter::repeat_n(b']', self.indices.len() - closed));
    }

    /// How many of the innermost axes are at their beginning.
    fn innermost_at_begin(&self) -> usize {
        self.indices.iter().rev().take_while(|&&index| index == 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(shape: &[u64], count: u64, cut: bool) -> String {
        let mut json = Vec::new();
        let mut nested = Nested::new(shape.to_vec());
        for element in 0..count {
            nested.begin(&mut json);
            json.extend(element.to_string().bytes());
            nested.end(&mut json);
        }
        if cut {
            nested.cut(&mut json);
        }
        String::from_utf8(json).unwrap()
    }

    #[test]
    fn brackets() {
        assert_eq!(shown(&[], 1, false), "0");
        assert_eq!(shown(&[3], 3, false), "[0, 1, 2]");
        assert_eq!(shown(&[2, 1, 2], 4, false), "[[[0, 1]], [[2, 3]]]");
        assert_eq!(shown(&[2, 2], 3, true), "[[0, 1], [2]]");
        assert_eq!(shown(&[2, 2], 2, true), "[[0, 1]]");
    }
}
