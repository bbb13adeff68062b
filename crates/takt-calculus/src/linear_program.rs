//! Linear programmes with proven optima. A solver in floating point finds the constraints that matter. Their multipliers are then
//! computed exactly, and checked: non-negative multipliers that add the constraints up to the objective prove a bound,
//! independently of the solver (weak duality). Nothing needs to be rounded.

use std::collections::BTreeMap;

use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome};

use crate::Rational;

/// A sum of variables with factors, by the variables' indices.
pub(crate) type Terms = Vec<(usize, Rational)>;

/// Thresholds below which multipliers are taken for the solver's noise, in the order in which they are tried.
const NOISE: [f64; 3] = [1e-7, 1e-9, 1e-5];

/// A linear programme: the maximum of a sum of free variables under upper limits on other sums.
pub(crate) struct LinearProgram {
    /// The typical size of each variable: solvers want numbers near 1. No result depends on it.
    scales: Vec<f64>,
    objective: BTreeMap<usize, Rational>,
    constraints: Vec<(BTreeMap<usize, Rational>, Rational)>,
}

impl LinearProgram {
    pub(crate) fn new() -> Self {
        Self {
            scales: Vec::new(),
            objective: BTreeMap::new(),
            constraints: Vec::new(),
        }
    }

    /// Adds a variable.
    pub(crate) fn variable(&mut self, scale: f64) -> usize {
        self.scales.push(scale);
        self.scales.len() - 1
    }

    /// Sets the objective to maximize.
    pub(crate) fn maximize(&mut self, terms: Terms) {
        self.objective = collected(terms);
    }

    /// Adds the constraint that the terms are at most `limit`.
    pub(crate) fn at_most(&mut self, terms: Terms, limit: Rational) {
        let terms = collected(terms);
        if !terms.is_empty() {
            self.constraints.push((terms, limit));
        }
    }

    pub(crate) fn constraints(&self) -> usize {
        self.constraints.len()
    }

    /// Returns a proven upper bound of the objective, usually its maximum. `None` if there is none, or if the solver did not help
    /// to find it.
    pub(crate) fn upper_bound(&self) -> Option<Rational> {
        let approximate = self.approximate_multipliers()?;
        NOISE.into_iter().find_map(|noise| {
            let relevant = approximate
                .iter()
                .enumerate()
                .filter(|(_, multiplier)| **multiplier > noise);
            let relevant: Vec<usize> = relevant.map(|(index, _)| index).collect();
            let exact = self.exact_multipliers(&relevant)?;
            self.proven(&relevant, &exact)
        })
    }

    /// Solves the dual programme in floating point, with every constraint scaled to about 1.
    fn approximate_multipliers(&self) -> Option<Vec<f64>> {
        let scaled = |terms: &BTreeMap<usize, Rational>| -> Vec<(usize, f64)> {
            let terms = terms.iter();
            terms
                .map(|(variable, factor)| {
                    (*variable, factor.to_f64().value() * self.scales[*variable])
                })
                .collect()
        };
        let greatest = |terms: &[(usize, f64)]| {
            terms
                .iter()
                .fold(0.0, |most: f64, (_, factor)| most.max(factor.abs()))
        };
        let objective = scaled(&self.objective);
        let unit = greatest(&objective);
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let mut columns: Vec<Vec<(microlp::Variable, f64)>> = vec![Vec::new(); self.scales.len()];
        let mut multipliers = Vec::with_capacity(self.constraints.len());
        for (terms, limit) in &self.constraints {
            let terms = scaled(terms);
            let size = greatest(&terms);
            let cost = limit.to_f64().value() / size;
            if !cost.is_finite() || !size.is_finite() {
                return None;
            }
            let multiplier = problem.add_var(cost, (0.0, f64::INFINITY));
            for (variable, factor) in terms {
                columns[variable].push((multiplier, factor / size));
            }
            multipliers.push(multiplier);
        }
        let mut wanted = vec![0.0; self.scales.len()];
        for (variable, factor) in objective {
            wanted[variable] = factor / unit;
        }
        for (column, wanted) in columns.into_iter().zip(wanted) {
            if column.is_empty() {
                // Nothing limits this variable, so the objective has no bound.
                if wanted != 0.0 {
                    return None;
                }
                continue;
            }
            problem.add_constraint(column.as_slice(), ComparisonOp::Eq, wanted);
        }
        match problem.solve().ok()? {
            SolveOutcome::Solution(solution) => {
                let values = multipliers.iter();
                Some(values.map(|own| solution.var_value(*own)).collect())
            }
            SolveOutcome::Interrupted(_) => None,
        }
    }

    /// Returns multipliers with which these constraints add up to the objective: the solution of linear equations, one per
    /// variable, by elimination.
    fn exact_multipliers(&self, relevant: &[usize]) -> Option<Vec<Rational>> {
        let end = relevant.len();
        let mut equations: Vec<BTreeMap<usize, Rational>> =
            vec![BTreeMap::new(); self.scales.len()];
        for (column, index) in relevant.iter().enumerate() {
            for (variable, factor) in &self.constraints[*index].0 {
                equations[*variable].insert(column, factor.clone());
            }
        }
        // The right side is stored behind all columns.
        for (variable, factor) in &self.objective {
            equations[*variable].insert(end, factor.clone());
        }
        let mut solved: Vec<(usize, BTreeMap<usize, Rational>)> = Vec::new();
        equations.retain(|equation| !equation.is_empty());
        // Shortest equations first, which keeps the others short.
        while let Some(next) = (0..equations.len()).min_by_key(|index| equations[*index].len()) {
            let equation = equations.swap_remove(next);
            // The equation is not empty: `retain` has removed such ones.
            let (column, factor) = equation.iter().next()?;
            // The left side is 0 and the right side is not: these constraints never add up to the objective.
            if *column == end {
                return None;
            }
            let (column, factor) = (*column, factor.clone());
            let row: BTreeMap<usize, Rational> = equation
                .into_iter()
                .map(|(index, value)| (index, value / &factor))
                .collect();
            for other in &mut equations {
                eliminate(other, column, &row);
            }
            for (_, other) in &mut solved {
                eliminate(other, column, &row);
            }
            solved.push((column, row));
            equations.retain(|equation| !equation.is_empty());
        }
        // Multipliers that no equation determines stay 0, and all columns beside them in the rows vanish.
        let mut multipliers = vec![Rational::ZERO; end];
        for (column, row) in solved {
            if let Some(value) = row.get(&end) {
                multipliers[column] = value.clone();
            }
        }
        Some(multipliers)
    }

    /// Returns the bound that multipliers prove: they must not be negative, and the constraints times them must add up to the
    /// objective.
    fn proven(&self, relevant: &[usize], multipliers: &[Rational]) -> Option<Rational> {
        let mut sum: BTreeMap<usize, Rational> = BTreeMap::new();
        let mut bound = Rational::ZERO;
        for (index, multiplier) in relevant.iter().zip(multipliers) {
            if *multiplier < Rational::ZERO {
                return None;
            }
            let (terms, limit) = &self.constraints[*index];
            for (variable, factor) in terms {
                *sum.entry(*variable).or_default() += factor * multiplier;
            }
            bound += limit * multiplier;
        }
        sum.retain(|_, factor| !factor.is_zero());
        (sum == self.objective).then_some(bound)
    }
}

fn collected(terms: Terms) -> BTreeMap<usize, Rational> {
    let mut collected: BTreeMap<usize, Rational> = BTreeMap::new();
    for (variable, factor) in terms {
        *collected.entry(variable).or_default() += factor;
    }
    collected.retain(|_, factor| !factor.is_zero());
    collected
}

/// Subtracts a row, whose factor of `column` is 1, from an equation as often as needed for the column to vanish.
fn eliminate(
    equation: &mut BTreeMap<usize, Rational>,
    column: usize,
    row: &BTreeMap<usize, Rational>,
) {
    let Some(factor) = equation.get(&column).cloned() else {
        return;
    };
    for (index, value) in row {
        let entry = equation.entry(*index).or_default();
        *entry = &*entry - &factor * value;
        if entry.is_zero() {
            equation.remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(
        constraints: &[(&[(usize, i64)], i64)],
        objective: &[(usize, i64)],
    ) -> LinearProgram {
        let terms = |terms: &[(usize, i64)]| {
            let terms = terms.iter();
            terms
                .map(|(variable, factor)| (*variable, Rational::from(*factor)))
                .collect()
        };
        let mut program = LinearProgram::new();
        for _ in 0..2 {
            program.variable(1.0);
        }
        for (constraint, limit) in constraints {
            program.at_most(terms(constraint), (*limit).into());
        }
        program.maximize(terms(objective));
        program
    }

    #[test]
    fn an_optimum_is_exact() {
        // x + 2 y ≤ 4, 3 x + y ≤ 5: at x = 6/5, y = 7/5.
        let found = program(
            &[(&[(0, 1), (1, 2)], 4), (&[(0, 3), (1, 1)], 5)],
            &[(0, 1), (1, 1)],
        );
        let expected = Rational::from_parts(13.into(), 5u32.into());
        assert_eq!(found.upper_bound(), Some(expected));
    }

    #[test]
    fn an_unbounded_programme_has_no_bound() {
        let found = program(&[(&[(0, 1), (1, -1)], 4)], &[(0, 1), (1, 1)]);
        assert_eq!(found.upper_bound(), None);
    }

    #[test]
    fn wrong_multipliers_prove_nothing() {
        let found = program(
            &[(&[(0, 1)], 4), (&[(1, 1)], 5), (&[(0, -1)], 0)],
            &[(0, 1), (1, 1)],
        );
        let one = || Rational::ONE;
        assert_eq!(found.proven(&[0, 1], &[one(), one()]), Some(9.into()));
        assert_eq!(found.proven(&[0], &[one()]), None);
        assert_eq!(
            found.proven(&[0, 1, 2], &[one() + one(), one(), one()]),
            Some(13.into())
        );
        assert_eq!(
            found.proven(&[0, 1, 2], &[Rational::ZERO, one(), -one()]),
            None
        );
    }
}
