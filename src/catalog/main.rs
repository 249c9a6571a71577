//! `cargo run --example catalog`: prints the catalog as JSON, from which `npm run generate` makes what is not Rust.

use pi_watchdog_supervisor::catalog;
use pi_watchdog_supervisor::kinds::{EvidenceType, InterventionKind, RuleInfo};
use pi_watchdog_supervisor::policy::config::{KEYS, schema, values};
use pi_watchdog_supervisor::setting::{Key, Shape};
use pi_watchdog_supervisor::trace::LifecycleEvent;
use pi_watchdog_supervisor::trace::lifecycle::EventInfo;
use pi_watchdog_supervisor::{detect, lifecycle};
use serde_json::{Value, json};

fn main() {
    let sections: Vec<Value> = detect::rules::ABOUT
        .iter()
        .map(|(section, about)| rule(section, about))
        .chain(lifecycle::ABOUT.iter().map(|about| rule("Lifecycle", about)))
        .collect();
    let catalog = json!({
        "keys": KEYS.iter().copied().map(key).collect::<Vec<_>>(),
        "evidence": catalog::evidence().iter().map(|kind| evidence(*kind)).collect::<Vec<_>>(),
        "interventions": catalog::interventions().map(intervention).collect::<Vec<_>>(),
        "rules": sections,
        "events": LifecycleEvent::ALL.iter().map(|(_, info)| event(info)).collect::<Vec<_>>(),
        "schema": schema(),
    });
    println!("{catalog:#}");
}

fn rule(section: &str, RuleInfo { evidence, interventions, keys, docs }: &RuleInfo) -> Value {
    json!({
        "section": section,
        "evidence": evidence.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "interventions": interventions.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "keys": keys.iter().map(|key| key.name).collect::<Vec<_>>(),
        "docs": docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n"),
    })
}

fn key(key: &Key) -> Value {
    json!({
        "name": key.name,
        "type": typescript(&key.shape),
        "default": key.default(),
        "values": values(key),
        "power": key.is_power(),
        "project": key.project(),
        "description": key.description(),
    })
}

fn typescript(shape: &Shape) -> String {
    match shape {
        Shape::Bool => "boolean".to_owned(),
        Shape::BoolOrNull => "boolean | null".to_owned(),
        Shape::Text(_) | Shape::OptionalText(_) => "string".to_owned(),
        Shape::Texts { .. } => "string[]".to_owned(),
        Shape::Integer { .. } | Shape::Usd { .. } | Shape::Seconds { .. } => "number".to_owned(),
        Shape::OneOf(names) => names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" | "),
    }
}

fn event(EventInfo { name, source, own, fields, meaning }: &EventInfo) -> Value {
    json!({
        "name": name,
        "source": source.name(),
        "own": own,
        "fields": fields
            .iter()
            .map(|field| json!({
                "name": field.name,
                "type": field.shape.trim_end_matches('?'),
                "optional": field.shape.ends_with('?'),
            }))
            .collect::<Vec<_>>(),
        "meaning": meaning.trim(),
    })
}

fn evidence(kind: EvidenceType) -> Value {
    json!({ "name": kind.name(), "atTheEnd": kind.info().at_the_end })
}

fn intervention(kind: InterventionKind) -> Value {
    let info = kind.info();
    json!({
        "name": kind.name(),
        "severity": info.severity.name(),
        "proposes": info.proposes.name(),
        "audience": info.audience.name(),
        "state": info.state,
        "brief": info.brief,
        "footer": info.footer,
        "itself": info.advice.itself,
        "others": info.advice.others,
        "untilActive": info.until_active,
        "outlives": info.outlives,
        "limit": info.limit,
        "when": info.when.trim(),
    })
}
