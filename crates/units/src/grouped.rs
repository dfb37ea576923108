//! Numbers as people read them.

/// A number with a comma before each three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!([0, 999, 1_002, 21_484_375].map(grouped), ["0", "999", "1,002", "21,484,375"]);
    }
}
