//! The detector of a whole trace: one engine per agent.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;

use crate::detect::{Action, Engine, Finding, Gist, Observed, StuckAnalysis};
use crate::lifecycle::{ChildInfo, Family, Id};
use crate::policy::Config;
use crate::text::fast;
use crate::trace::{Event, EventKind, LifecycleEvent, Usage};

#[derive(Debug, Clone)]
pub struct Detector {
    config: Config,
    /// What concerns all of them.
    family: Family,
    /// By agent name; `None` is the main agent.
    engines: Vec<(Option<Box<str>>, Engine)>,
    /// Where in `engines` each agent is.
    places: HashMap<Option<Box<str>>, usize>,
    /// The one that was asked for last: events come in runs.
    latest: usize,
    /// Children that were started and have not ended: agent, parent, what it was asked.
    children: Vec<Child>,
    last_at: f64,
}

#[derive(Debug, Clone)]
struct Child {
    agent: Box<str>,
    parent: Option<Box<str>>,
    asked: Arc<Action>,
}

/// The name of the main agent in a trace.
const MAIN: &str = "main";

/// Children that are remembered; the oldest is forgotten.
const MAX_CHILDREN: usize = 1024;

/// Fields of `subagent_spawn` and `subagent_end`.
#[derive(Deserialize)]
struct ChildFields {
    parent: Option<String>,
    task: Option<String>,
    status: Option<String>,
    error: Option<String>,
}

impl Detector {
    pub fn new(config: &Config) -> Self {
        let config = config.clone();
        let family = Family::new(MAIN, Arc::clone(&config.tree));
        Self {
            config,
            family,
            engines: Vec::new(),
            places: HashMap::new(),
            latest: 0,
            children: Vec::new(),
            last_at: 0.0,
        }
    }

    /// Takes the next event; returns the findings that it caused, notices that an incident is over left out.
    pub fn observe(&mut self, event: &Event<'_>) -> Vec<Finding> {
        self.observe_gist(event, Gist::of(&event.kind))
    }

    /// Takes the next event, whose gist was computed elsewhere; its texts are not read.
    pub fn observe_gist(&mut self, event: &Event<'_>, gist: Gist) -> Vec<Finding> {
        let agent = event.agent.filter(|agent| *agent != "main");
        self.last_at = self.last_at.max(event.at);
        if let EventKind::Lifecycle { event: LifecycleEvent::Suspended, .. } = event.kind {
            // It concerns all of them, whoever's event it is. The one below reaches the family.
            for (_, engine) in self.engines.iter_mut().filter(|(name, _)| name.as_deref() != agent) {
                engine.observe(event.at, &event.kind);
            }
        }
        let mut findings = match event.kind {
            EventKind::Lifecycle {
                event: name @ (LifecycleEvent::SubagentSpawn | LifecycleEvent::SubagentEnd),
                fields,
            } => self.child(event.at, name, agent, fields),
            _ => Vec::new(),
        };
        let observed = self.engine(agent).observe_gist(event.at, &event.kind, gist);
        let member = self.member(agent, event.at);
        self.family.observe(member, event.at, &event.kind, observed.action.as_deref());
        let stuck = self.engine(agent).stuck();
        self.family.set_stuck(member, stuck);
        let explained = self.family.explains(member, event.at, &self.config.tree);
        let own = named(observed, agent);
        findings.extend(own.into_iter().filter(|finding| finding.intervention.is_some() || !explained));
        findings.extend(self.of_family());
        findings
    }

    fn member(&mut self, agent: Option<&str>, at: f64) -> Id {
        let Some(agent) = agent else { return self.family.root() };
        self.family.id_of(agent).unwrap_or_else(|| self.family.join(agent, &ChildInfo::default(), at))
    }

    /// What the family found. An agent that does not respond is stuck as well, which is a verdict of its own.
    fn of_family(&mut self) -> Vec<Finding> {
        if !self.family.has_found() {
            return Vec::new();
        }
        let mut findings = Vec::new();
        for finding in self.family.take().into_iter().filter(|finding| !finding.over) {
            if let Some(evidence) = finding.analysis.evidence.first() {
                let rule = evidence.kind.name();
                findings.push(Finding { rule, intervention: None, ..finding.clone() });
            }
            findings.push(finding);
        }
        findings
    }

    /// The trace has ended: a message that waited for its tool calls stands for itself.
    pub fn finish(&mut self) -> Vec<Finding> {
        let at = self.last_at;
        let mut findings = Vec::new();
        for (agent, engine) in &mut self.engines {
            findings.extend(named(engine.finish(at), agent.as_deref()));
        }
        findings
    }

    /// A child that fails is an answer to the parent that asked for it.
    fn child(&mut self, at: f64, name: LifecycleEvent, agent: Option<&str>, fields: &str) -> Vec<Finding> {
        let (Some(agent), Ok(fields)) = (agent, serde_json::from_str::<ChildFields>(fields)) else { return Vec::new() };
        if name == LifecycleEvent::SubagentSpawn {
            if self.children.len() >= MAX_CHILDREN {
                self.children.remove(0);
            }
            let parent = fields.parent.filter(|parent| parent != "main").map(String::into_boxed_str);
            let asked = Arc::new(Action::new("subagent", &serde_json::json!({ "prompt": fields.task }).to_string()));
            self.children.push(Child { agent: agent.into(), parent, asked });
            return Vec::new();
        }
        let Some(index) = self.children.iter().position(|child| &*child.agent == agent) else { return Vec::new() };
        let child = self.children.remove(index);
        if !matches!(fields.status.as_deref(), Some("failed" | "error")) {
            return Vec::new();
        }
        let outcome = fast(fields.error.unwrap_or_default().as_bytes());
        let parent = child.parent.as_deref();
        named(self.engine(parent).child_failed(at, child.asked, outcome), parent)
    }

    /// Time has passed for all agents.
    pub fn tick(&mut self, at: f64) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (agent, engine) in &mut self.engines {
            let mut observed = Observed::default();
            engine.tick(at, &mut observed);
            findings.extend(named(observed, agent.as_deref()));
        }
        self.family.tick(at);
        findings.extend(self.of_family());
        findings
    }

    /// The verdict now, for one agent (`None`: the main one).
    pub fn analysis(&self, agent: Option<&str>) -> StuckAnalysis {
        let agent = agent.filter(|agent| *agent != "main");
        let place = self.places.get(&agent.map(Box::from));
        place.map(|place| self.engines[*place].1.analysis()).unwrap_or_default()
    }

    /// All agents' usage together.
    pub fn usage(&self) -> Usage {
        self.engines.iter().fold(Usage::default(), |mut sum, (_, engine)| {
            sum += engine.usage();
            sum
        })
    }

    pub fn reset(&mut self) {
        self.engines.clear();
        self.places.clear();
        self.children.clear();
        self.family = Family::new(MAIN, Arc::clone(&self.config.tree));
    }

    fn engine(&mut self, agent: Option<&str>) -> &mut Engine {
        if self.engines.get(self.latest).is_none_or(|(name, _)| name.as_deref() != agent) {
            let name: Option<Box<str>> = agent.map(Box::from);
            self.latest = *self.places.entry(name).or_insert_with_key(|name| {
                self.engines.push((name.clone(), Engine::new(Arc::clone(&self.config.rules))));
                self.engines.len() - 1
            });
        }
        &mut self.engines[self.latest].1
    }
}

fn named(observed: Observed, agent: Option<&str>) -> Vec<Finding> {
    let mut findings = observed.findings;
    findings.retain(|finding| !finding.over);
    for finding in &mut findings {
        finding.agent = agent.map(str::to_owned);
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::growth;
    use crate::trace::TraceReader;

    fn observe(lines: &[String]) -> usize {
        let (mut reader, mut detector) = (TraceReader::default(), Detector::new(&Config::default()));
        for line in lines {
            reader.read(line.as_bytes(), |event| drop(detector.observe(event))).unwrap();
        }
        detector.tick(1e9);
        detector.engines.len()
    }

    #[test]
    fn many_agents_each_below_the_one_before_cost_what_they_are_many() {
        let nested = |agents: usize| -> Vec<String> {
            (0..agents)
                .flat_map(|n| {
                    let parent = if n == 0 { "main".to_owned() } else { format!("a{}", n - 1) };
                    [
                        format!(
                            r#"{{"type":"lifecycle","event":"subagent_spawn","at":{n},"agent":"a{n}","parent":"{parent}","task":"t{n}"}}"#
                        ),
                        format!(r#"{{"type":"user","at":{n},"agent":"a{n}","text":"go {n}"}}"#),
                        format!(r#"{{"type":"lifecycle","event":"user_abort","at":{n},"agent":"a{n}"}}"#),
                    ]
                })
                .collect()
        };
        assert_eq!(observe(&nested(6000)), 6000);
        growth::grows(
            "nested agents",
            |size| nested(size / 8),
            |lines| {
                std::hint::black_box(observe(lines));
            },
        );
    }
}
