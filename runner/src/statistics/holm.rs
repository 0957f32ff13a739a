//! Many tests at once: with twenty tests of nothing, one is "significant" by chance.

/// Holm's adjusted p-values (Scandinavian Journal of Statistics 6, 1979), in the order given: those below a level can be
/// believed together at that level, whatever the tests have in common.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut floor: f64 = 0.0;
    for (rank, &at) in order.iter().enumerate() {
        floor = floor.max((p_values.len() - rank) as f64 * p_values[at]).min(1.0);
        adjusted[at] = floor;
    }
    adjusted
}
