//! Lays layers over the defaults. Decides who may raise a power; a cloned repository and a model may not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Config;
use super::check::{Checked, check};
use super::json_error::parse;
use super::keys::{self, KEYS, SCHEMA_KEY};
use crate::setting::{Key, Scope};
use crate::text::quote;

/// Where a layer came from; decides what it may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The user's own file.
    Global,
    /// A file in the project: whoever wrote the repository.
    Project,
    /// What the user typed in this run.
    Command,
    /// What the main agent's model asked for in this run.
    Model,
    /// What a sub-agent's model asked for, for its own session.
    Child,
}

/// One source of configuration: JSON text and how to name it in warnings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    pub source: Source,
    pub name: String,
    pub text: String,
}

/// Something in a layer that was not taken as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    pub source: Source,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// One sentence: layer, key, value, what is used instead.
    pub message: String,
}

/// Where an effective value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Default,
    #[serde(untagged)]
    Layer(Source),
}

/// The effective configuration, where each value of it comes from, and what was wrong on the way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Resolved {
    pub config: Config,
    /// By key.
    pub sources: BTreeMap<&'static str, Origin>,
    pub warnings: Vec<Warning>,
}

/// Unknown keys that are named one by one: a file of something else has thousands.
const MAX_UNKNOWN: usize = 10;

pub fn resolve(layers: &[Layer]) -> Resolved {
    // A project counts on the global file, in whatever order the layers come.
    let granted = layers
        .iter()
        .filter(|layer| layer.source == Source::Global)
        .any(|layer| sets(layer, "allowProjectPowers", true));
    // Which powers are on in the end decides what a project may do to their limits. Powers do not depend on limits.
    let mut state = State::new(granted, vec![]);
    for layer in layers {
        state.lay(layer);
    }
    let armed = KEYS.iter().filter(|key| key.power(&state.values[key.name]) > 0).map(|key| key.name).collect();
    let mut state = State::new(granted, armed);
    for layer in layers {
        state.lay(layer);
    }
    state.report_switched_off(layers);
    // Every value has passed its check, so this cannot fail; the defaults are the safe answer if it ever did.
    let config = serde_json::from_value(Value::Object(state.values)).unwrap_or_default();
    Resolved { config, sources: state.sources, warnings: state.warnings }
}

fn sets(layer: &Layer, name: &str, value: bool) -> bool {
    parse(&layer.text).is_ok_and(|object| object.get(name) == Some(&Value::Bool(value)))
}

struct State {
    values: Map<String, Value>,
    /// What holds without the layers of projects and models.
    own: Map<String, Value>,
    sources: BTreeMap<&'static str, Origin>,
    warnings: Vec<Warning>,
    /// Whether the global file lets projects set powers and their limits.
    granted: bool,
    /// Powers that are on in the end.
    armed: Vec<&'static str>,
}

impl State {
    fn new(granted: bool, armed: Vec<&'static str>) -> Self {
        let values: Map<_, _> = KEYS.iter().map(|key| (key.name.to_owned(), key.default())).collect();
        let sources = KEYS.iter().map(|key| (key.name, Origin::Default)).collect();
        Self { own: values.clone(), values, sources, warnings: vec![], granted, armed }
    }

    fn lay(&mut self, layer: &Layer) {
        let object = match parse(&layer.text) {
            Ok(object) => object,
            Err(reason) => {
                self.warn(layer, None, format!("{reason}; nothing of it is used"));
                return;
            }
        };
        let mut unknown = 0;
        for (name, value) in &object {
            match keys::find(name) {
                Some(key) => self.set(layer, key, value),
                None if name == SCHEMA_KEY => {}
                None => {
                    unknown += 1;
                    if unknown <= MAX_UNKNOWN {
                        self.unknown(layer, name, value);
                    }
                }
            }
        }
        if unknown > MAX_UNKNOWN {
            self.warn(layer, None, format!("{} more unknown keys", unknown - MAX_UNKNOWN));
        }
    }

    fn set(&mut self, layer: &Layer, key: &'static Key, value: &Value) {
        let current = self.values.get(key.name).cloned().unwrap_or_default();
        let (checked, problem) = match check(key, value) {
            Checked::Good(checked) => (checked, None),
            Checked::Changed(checked, problem) => (checked, Some(problem)),
            Checked::Bad(expected) => {
                let message = format!("{} = {} must be {expected}; {} stays", key.name, show(value), show(&current));
                self.warn(layer, Some(key.name), message);
                return;
            }
        };
        if let Some(reason) = self.refusal(layer.source, key, &checked, &current) {
            let message = format!("{} = {} is ignored: {reason}; {} stays", key.name, show(value), show(&current));
            self.warn(layer, Some(key.name), message);
            return;
        }
        if let Some(problem) = problem {
            let message = format!("{} = {} is {problem}; {} is used", key.name, show(value), show(&checked));
            self.warn(layer, Some(key.name), message);
        }
        if matches!(layer.source, Source::Global | Source::Command) {
            self.own.insert(key.name.to_owned(), checked.clone());
        }
        self.values.insert(key.name.to_owned(), checked);
        self.sources.insert(key.name, Origin::Layer(layer.source));
    }

    /// Why a source may not set a key to this value.
    fn refusal(&self, source: Source, key: &Key, value: &Value, current: &Value) -> Option<String> {
        let model = match source {
            Source::Global => return None,
            Source::Command => {
                return matches!(key.scope, Scope::GlobalFile).then(|| "it counts in the global file only".to_owned());
            }
            Source::Child => return self.child_refusal(key),
            Source::Project => false,
            Source::Model => true,
        };
        let who = if model { "a model" } else { "a project file" };
        let own = &self.own[key.name];
        let raises = key.power(value) > key.power(if model { current } else { own });
        match key.scope {
            Scope::Project => None,
            Scope::OffOnly => {
                let on = *value == Value::Bool(true) && *(if model { current } else { own }) != Value::Bool(true);
                on.then(|| format!("{who} may only switch it off"))
            }
            Scope::Power(_) if model => {
                raises.then(|| "a model cannot raise powers that the user did not grant".to_owned())
            }
            Scope::Power(_) => (raises && !self.granted).then(|| {
                "a project file may do so only if the global file has \"allowProjectPowers\": true".to_owned()
            }),
            Scope::UserPower(_) | Scope::User => Some(format!("{who} cannot set it, the global file does")),
            Scope::GlobalFile if model => Some("a model cannot raise powers that the user did not grant".to_owned()),
            Scope::GlobalFile => Some("a project file cannot grant itself powers".to_owned()),
            Scope::Limit { powers, laxness, .. } => {
                let power = powers.iter().find(|power| self.armed.contains(power))?;
                let free = self.granted && !model;
                (!free && laxness(value) < laxness(own))
                    .then(|| format!("while {power} is on, {who} may only make it laxer than {}", show(own)))
            }
        }
    }

    /// A sub-agent must neither loosen what a power of the user acts on, nor touch what holds for others.
    fn child_refusal(&self, key: &Key) -> Option<String> {
        match key.scope {
            Scope::Limit { own: true, powers, .. } => {
                let power = powers.iter().find(|power| self.armed.contains(power))?;
                Some(format!("a sub-agent may not change what {power} acts on"))
            }
            _ => Some(format!(
                "a sub-agent may only tune limits of its own session; the user can run /watchdog set {} in the main session",
                key.name
            )),
        }
    }

    /// A repository that is not watched must not look like one in which nothing happens.
    fn report_switched_off(&mut self, layers: &[Layer]) {
        if self.sources["enabled"] != Origin::Layer(Source::Project) || self.values["enabled"] != Value::Bool(false) {
            return;
        }
        let mut projects = layers.iter().rev().filter(|layer| layer.source == Source::Project);
        if let Some(layer) = projects.find(|layer| sets(layer, "enabled", false)) {
            let message = "enabled = false switches the watchdog off in this project; \
                           /watchdog set enabled true switches it on for this run";
            self.warn(layer, Some("enabled"), message.to_owned());
        }
    }

    fn unknown(&mut self, layer: &Layer, name: &str, value: &Value) {
        let shown = quote(name, 40, 1);
        let hint = nearest(name).map_or_else(String::new, |key| format!("; did you mean {key}?"));
        let message = format!("unknown key {shown} = {}{hint}", show(value));
        self.warn(layer, Some(&shown), message);
    }

    fn warn(&mut self, layer: &Layer, key: Option<&str>, message: String) {
        let name = quote(&layer.name, 200, 1);
        let message = if name.is_empty() { message } else { format!("{name}: {message}") };
        self.warnings.push(Warning {
            source: layer.source,
            name: layer.name.clone(),
            key: key.map(str::to_owned),
            message,
        });
    }
}

/// A value for people: one line, nothing in it that acts on a terminal.
fn show(value: &Value) -> String {
    quote(&value.to_string(), 60, 1)
}

/// The key that was probably meant: at most a third of its letters differ.
fn nearest(name: &str) -> Option<&'static str> {
    // Longer names are no typing mistakes, and the distance is quadratic.
    if name.len() > 64 {
        return None;
    }
    let wanted = name.to_lowercase();
    let best = KEYS.iter().map(|key| (distance(&wanted, &key.name.to_lowercase()), key.name)).min()?;
    (best.0 <= best.1.len() / 3).then_some(best.1)
}

/// Insertions, deletions and substitutions from one to the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}
