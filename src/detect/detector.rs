//! The detector of a whole trace: one engine per agent.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;

use super::action::Action;
use super::analysis::StuckAnalysis;
use super::engine::{Engine, Observed};
use super::gist::Gist;
use super::incident::Finding;
use crate::lifecycle::{Family, Id, Kin};
use crate::policy::Config;
use crate::text::fast;
use crate::trace::{Event, EventKind, Usage};

#[derive(Debug, Clone)]
pub struct Detector {
    config: Arc<Config>,
    /// What concerns all of them.
    family: Family,
    /// With the agent's name; `None` is the main agent.
    engines: Vec<(Option<Box<str>>, Engine)>,
    /// Where each agent's is; the main agent has no name.
    places: HashMap<Box<str>, usize>,
    main: Option<usize>,
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
        let config = Arc::new(config.clone());
        let family = Family::new(MAIN, Arc::clone(&config));
        Self {
            config,
            family,
            engines: Vec::new(),
            places: HashMap::new(),
            main: None,
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
        if let EventKind::Lifecycle { event: "suspended", .. } = event.kind {
            // It concerns all of them, whoever's event it is. The one below reaches the family.
            for (_, engine) in self.engines.iter_mut().filter(|(name, _)| name.as_deref() != agent) {
                engine.observe(event.at, &event.kind);
            }
        }
        let mut findings = match event.kind {
            EventKind::Lifecycle { event: name @ ("subagent_spawn" | "subagent_end"), fields } => {
                self.child(event.at, name, agent, fields)
            }
            _ => Vec::new(),
        };
        let observed = self.engine(agent).observe_gist(event.at, &event.kind, gist);
        let member = self.member(agent, event.at);
        self.family.observe(member, event.at, &event.kind, observed.action.as_deref());
        let stuck = self.engine(agent).stuck();
        self.family.set_stuck(member, stuck);
        let explained = self.family.explains(member, event.at, &self.config);
        let own = named(observed, agent);
        findings.extend(own.into_iter().filter(|finding| finding.intervention.is_some() || !explained));
        findings.extend(self.of_family());
        findings
    }

    fn member(&mut self, agent: Option<&str>, at: f64) -> Id {
        let Some(agent) = agent else { return self.family.root() };
        self.family.id_of(agent).unwrap_or_else(|| self.family.join(agent, &Kin::default(), at))
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
    fn child(&mut self, at: f64, name: &str, agent: Option<&str>, fields: &str) -> Vec<Finding> {
        let (Some(agent), Ok(fields)) = (agent, serde_json::from_str::<ChildFields>(fields)) else { return Vec::new() };
        if name == "subagent_spawn" {
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
        let engine = self.engines.iter().find(|(name, _)| name.as_deref() == agent);
        engine.map(|(_, engine)| engine.analysis()).unwrap_or_default()
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
        self.main = None;
        self.children.clear();
        self.family = Family::new(MAIN, Arc::clone(&self.config));
    }

    fn engine(&mut self, agent: Option<&str>) -> &mut Engine {
        let place = match agent {
            None => self.main,
            Some(agent) => self.places.get(agent).copied(),
        };
        let index = place.unwrap_or_else(|| {
            let index = self.engines.len();
            self.engines.push((agent.map(Box::from), Engine::new(Arc::clone(&self.config))));
            match agent {
                None => self.main = Some(index),
                Some(agent) => drop(self.places.insert(agent.into(), index)),
            }
            index
        });
        &mut self.engines[index].1
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
