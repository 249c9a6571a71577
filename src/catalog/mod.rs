//! Everything that can be found, and where it is declared: for reading names, and for the reference.

use crate::kinds::{EvidenceType, InterventionKind, RuleInfo};
use crate::{detect, lifecycle};

/// All rules: those of one agent, then those of a tree of agents.
pub fn rules() -> impl Iterator<Item = &'static RuleInfo> {
    detect::rules::ABOUT.iter().map(|(_, rule)| rule).chain(lifecycle::ABOUT)
}

/// All kinds of evidence, in the order in which an incident is named by them.
pub fn evidence() -> Vec<EvidenceType> {
    let mut kinds: Vec<EvidenceType> = rules().flat_map(|rule| rule.evidence).copied().collect();
    kinds.sort_unstable();
    kinds
}

pub fn interventions() -> impl Iterator<Item = InterventionKind> {
    rules().flat_map(|rule| rule.interventions).copied()
}

/// The kind of evidence with a published name.
pub fn evidence_named(name: &str) -> Option<EvidenceType> {
    rules().flat_map(|rule| rule.evidence).copied().find(|kind| kind.name() == name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::policy::config::KEYS;

    #[test]
    fn names_ranks_and_keys_are_declared_once() {
        let evidence = evidence();
        let names: HashSet<&str> = evidence.iter().map(|kind| kind.name()).collect();
        let ranks: HashSet<u8> = evidence.iter().map(|kind| kind.info().rank).collect();
        assert_eq!((names.len(), ranks.len()), (evidence.len(), evidence.len()));
        let kinds: Vec<&str> = interventions().map(InterventionKind::rule).collect();
        assert_eq!(kinds.iter().collect::<HashSet<_>>().len(), kinds.len());
        let keys: HashSet<&str> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(keys.len(), KEYS.len());
    }

    #[test]
    fn a_rule_that_is_described_finds_something_and_every_kind_has_words() {
        for rule in rules() {
            assert!(!rule.evidence.is_empty() || !rule.interventions.is_empty());
            assert_eq!(rule.evidence.is_empty(), rule.docs.is_empty() || rule.evidence.is_empty(), "{}", rule.docs);
        }
        for kind in interventions() {
            let info = kind.info();
            assert!(!info.state.is_empty() && info.brief.len() <= 12 && !info.when.trim().is_empty(), "{kind:?}");
        }
        assert_eq!(evidence_named("cycle").map(EvidenceType::name), Some("cycle"));
        assert_eq!(evidence_named("no such rule"), None);
    }
}
