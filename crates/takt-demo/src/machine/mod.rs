//! The Provider `Machine`: a spindle with commands for start, stop and speed.

pub mod spindle;

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use takt_app::{LimitAlarm, Method, Provider, ProviderBuilder, ProviderError, Unit, Variable};
use takt_cell::Cell;
use takt_rt::cyclic::{Cyclic, CyclicError};
use takt_space::ValueSource;
use takt_ua::{BuiltInType, DataValue, DateTime, StatusCode, Variant};

use spindle::{MAX_OVERRIDE, MAX_SPEED, Refusal, Spindle, SpindleState};

/// ApplicationName of the Provider.
pub const NAME: &str = "Machine";

/// Cycle of the simulation of the physics.
const CYCLE: Duration = Duration::from_millis(10);

/// Longest time for which operators can shelve the alarm.
const LONGEST_SHELVED: Duration = Duration::from_secs(8 * 3600);

/// Cells that the cyclic thread sets and clients read.
struct Actuals {
    speed: Arc<Cell>,
    load: Arc<Cell>,
    temperature: Arc<Cell>,
    state: Arc<Cell>,
}

/// Spindle that is shared by the cyclic thread and its commands.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Spindle>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Spindle> {
        // Every state of a spindle is consistent, even after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the Provider `Machine` with the options of `builder`, and its cyclic thread.
pub fn start(builder: ProviderBuilder) -> Result<Provider, MachineError> {
    let spindle = Shared::default();
    let actuals = Actuals {
        speed: double(),
        load: double(),
        temperature: double(),
        state: Arc::new(Cell::of(&Variant::UInt32(0))),
    };
    let provider = builder
        .variable(
            Variable::cell("Spindle/Speed", &actuals.speed)
                .unit(Unit::REVOLUTIONS_PER_MINUTE)
                .range(0.0..MAX_SPEED * MAX_OVERRIDE / 100.0),
        )
        .variable(
            Variable::cell("Spindle/Load", &actuals.load)
                .unit(Unit::PERCENT)
                .range(0.0..100.0),
        )
        .variable(
            Variable::cell("Spindle/Temperature", &actuals.temperature)
                .unit(Unit::DEGREE_CELSIUS)
                .range(0.0..spindle::TEMPERATURE_LIMIT),
        )
        .variable(Variable::cell("Spindle/State", &actuals.state).states(SpindleState::NAMES))
        .variable(
            command(
                &spindle,
                "Spindle/SpeedSetpoint",
                0.0..=MAX_SPEED,
                |spindle| &mut spindle.setpoint,
            )
            .unit(Unit::REVOLUTIONS_PER_MINUTE)
            .range(0.0..MAX_SPEED),
        )
        .variable(
            command(
                &spindle,
                "Spindle/Override",
                0.0..=MAX_OVERRIDE,
                |spindle| &mut spindle.override_percent,
            )
            .unit(Unit::PERCENT)
            .range(0.0..MAX_OVERRIDE),
        )
        .variable(
            Variable::source(
                "DoorClosed",
                BuiltInType::Boolean,
                Arc::new(Door(spindle.clone())),
            )
            .writable()
            .inline(),
        )
        .alarm(
            LimitAlarm::new("Spindle/Overtemperature", "Spindle/Temperature")
                .high(spindle::TEMPERATURE_WARNING, 500)
                .high_high(spindle::TEMPERATURE_ALARM, 800)
                .shelvable(LONGEST_SHELVED)
                .deadband(2.0)
                .needs_confirmation(),
        )
        .method(action(&spindle, "Start", Spindle::start))
        .method(action(&spindle, "Stop", Spindle::stop))
        .start()?;
    run(spindle, actuals)?;
    Ok(provider)
}

/// Reason why the Provider could not be started.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// Endpoints that could not be opened.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// Cycle that could not be set up.
    #[error(transparent)]
    Cyclic(#[from] CyclicError),
    /// Thread that could not be started.
    #[error("cannot start the thread of the machine: {0}")]
    Thread(#[from] std::io::Error),
}

fn double() -> Arc<Cell> {
    Arc::new(Cell::of(&Variant::Double(0.0)))
}

/// Simulates the physics until the process ends.
fn run(spindle: Shared, actuals: Actuals) -> Result<(), MachineError> {
    let cyclic = Cyclic::new(CYCLE)?;
    std::thread::Builder::new()
        .name("machine".to_owned())
        .spawn(move || {
            cyclic.run(|cycle| {
                // The time of skipped cycles passes, too: the physics do not depend on the load of the host.
                let passed = CYCLE * u32::try_from(cycle.skipped + 1).unwrap_or(1);
                let now = {
                    let mut spindle = spindle.lock();
                    spindle.advance(passed);
                    spindle.clone()
                };
                actuals.set(&now);
                ControlFlow::<()>::Continue(())
            });
        })?;
    Ok(())
}

impl Actuals {
    fn set(&self, spindle: &Spindle) {
        let time = DateTime::now();
        let good = StatusCode::Good;
        // The cells were made for these types, so that setting them cannot fail.
        let _ = self.speed.set_f64(spindle.speed(), good, time);
        let _ = self.load.set_f64(spindle.load(), good, time);
        let _ = self.temperature.set_f64(spindle.temperature(), good, time);
        let _ = self.state.set_u32(spindle.state() as u32, good, time);
    }
}

/// Creates a Method without arguments that the machine may refuse.
fn action(spindle: &Shared, name: &str, act: fn(&mut Spindle) -> Result<(), Refusal>) -> Method {
    let spindle = spindle.clone();
    Method::new(name, move |_| {
        act(&mut spindle.lock()).map_err(status)?;
        Ok(Vec::new())
    })
    .inline()
}

fn status(refusal: Refusal) -> StatusCode {
    match refusal {
        Refusal::AlreadyRunning | Refusal::AlreadyStopped => StatusCode::BadInvalidState,
        Refusal::DoorOpen | Refusal::DoorLocked | Refusal::TooHot => {
            StatusCode::BadRequestNotAllowed
        }
    }
}

/// Number that clients set within limits.
struct Command {
    spindle: Shared,
    limits: std::ops::RangeInclusive<f64>,
    field: fn(&mut Spindle) -> &mut f64,
}

fn command(
    spindle: &Shared,
    path: &str,
    limits: std::ops::RangeInclusive<f64>,
    field: fn(&mut Spindle) -> &mut f64,
) -> Variable {
    let source = Command {
        spindle: spindle.clone(),
        limits,
        field,
    };
    Variable::source(path, BuiltInType::Double, Arc::new(source))
        .writable()
        .inline()
}

impl ValueSource for Command {
    fn read(&self) -> DataValue {
        let value = *(self.field)(&mut self.spindle.lock());
        DataValue::good(value).with_source_timestamp(DateTime::now())
    }

    fn write(&self, value: &DataValue) -> StatusCode {
        match value.value {
            Some(Variant::Double(wanted)) if self.limits.contains(&wanted) => {
                *(self.field)(&mut self.spindle.lock()) = wanted;
                StatusCode::Good
            }
            Some(Variant::Double(_)) => StatusCode::BadOutOfRange,
            _ => StatusCode::BadTypeMismatch,
        }
    }
}

/// Door of the machine. It is locked while the spindle turns.
struct Door(Shared);

impl ValueSource for Door {
    fn read(&self) -> DataValue {
        let closed = self.0.lock().door_closed();
        DataValue::good(closed).with_source_timestamp(DateTime::now())
    }

    fn write(&self, value: &DataValue) -> StatusCode {
        match value.value {
            Some(Variant::Boolean(closed)) => match self.0.lock().set_door(closed) {
                Ok(()) => StatusCode::Good,
                Err(refusal) => status(refusal),
            },
            _ => StatusCode::BadTypeMismatch,
        }
    }
}
