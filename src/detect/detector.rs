//! The detector of a whole trace: one engine per agent.

use std::sync::Arc;

use super::analysis::StuckAnalysis;
use super::engine::{Engine, Observed};
use super::gist::Gist;
use super::incident::Finding;
use crate::policy::Config;
use crate::trace::{Event, Usage};

#[derive(Debug, Clone)]
pub struct Detector {
    config: Arc<Config>,
    /// By agent name; `None` is the main agent. A trace has few agents, and events come in runs.
    engines: Vec<(Option<Box<str>>, Engine)>,
}

impl Detector {
    pub fn new(config: &Config) -> Self {
        Self { config: Arc::new(config.clone()), engines: Vec::new() }
    }

    /// Takes the next event; returns the findings that it caused, notices that an incident is over left out.
    pub fn observe(&mut self, event: &Event<'_>) -> Vec<Finding> {
        self.observe_gist(event, Gist::of(&event.kind))
    }

    /// Takes the next event, whose gist was computed elsewhere; its texts are not read.
    pub fn observe_gist(&mut self, event: &Event<'_>, gist: Gist) -> Vec<Finding> {
        let agent = event.agent.filter(|agent| *agent != "main");
        let observed = self.engine(agent).observe_gist(event.at, &event.kind, gist);
        named(observed, agent)
    }

    /// Time has passed for all agents.
    pub fn tick(&mut self, at: f64) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (agent, engine) in &mut self.engines {
            let mut observed = Observed::default();
            engine.tick(at, &mut observed);
            findings.extend(named(observed, agent.as_deref()));
        }
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
    }

    fn engine(&mut self, agent: Option<&str>) -> &mut Engine {
        let index = self.engines.iter().position(|(name, _)| name.as_deref() == agent).unwrap_or_else(|| {
            self.engines.push((agent.map(Box::from), Engine::new(Arc::clone(&self.config))));
            self.engines.len() - 1
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
