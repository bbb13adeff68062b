//! Physics of a spindle: a motor with limited torque turns an inertia against friction and a cutting load, and warms up.
//!
//! The units inside are SI units; the Provider shows revolutions per minute and percent. There are no clocks and no threads: the
//! owner of a [`Spindle`] advances its time.

use std::f64::consts::TAU;
use std::time::Duration;

/// Largest torque of the motor in N·m.
const MAX_TORQUE: f64 = 20.0;
/// Inertia of rotor, shaft and tool, in kg·m².
const INERTIA: f64 = 0.03;
/// Viscous friction, in N·m·s.
const FRICTION: f64 = 0.004;
/// Load of the cut at full speed, in N·m.
const CUTTING_TORQUE: f64 = 6.0;
/// Losses that become heat, as a share of the mechanical power.
const LOSS: f64 = 0.15;
/// Heat capacity of the housing, in J/K.
const HEAT_CAPACITY: f64 = 900.0;
/// Thermal resistance to the surroundings, in K/W.
const THERMAL_RESISTANCE: f64 = 0.05;
/// Temperature of the surroundings, in °C.
const AMBIENT: f64 = 22.0;
/// Gain of the speed controller, in N·m per rad/s.
const CONTROLLER_GAIN: f64 = 2.0;
/// Speed below which a stopping spindle counts as standing, in rad/s.
const STANDSTILL: f64 = 0.5;

/// Highest speed setpoint, in r/min.
pub const MAX_SPEED: f64 = 12_000.0;
/// Highest override, in percent.
pub const MAX_OVERRIDE: f64 = 120.0;
/// Temperature above which operators are warned, in °C.
pub const TEMPERATURE_WARNING: f64 = 50.0;
/// Temperature above which operators are alarmed, in °C.
pub const TEMPERATURE_ALARM: f64 = 75.0;
/// Temperature at which the spindle does not start and a running one is stopped, in °C.
pub const TEMPERATURE_LIMIT: f64 = 90.0;
/// Temperature below which the spindle may start again after it was too hot, in °C.
pub const TEMPERATURE_RELEASE: f64 = 70.0;

/// State of the spindle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum SpindleState {
    /// Standstill: the spindle may be started.
    Stopped = 0,
    /// Rotation, at the setpoint or on the way to it.
    Running = 1,
    /// Braking to standstill.
    Stopping = 2,
    /// Standstill after overheating. The spindle stays off until it has cooled down.
    TooHot = 3,
}

impl SpindleState {
    /// Names of the states, in the order of their values.
    pub const NAMES: [&str; 4] = ["Stopped", "Running", "Stopping", "Too hot"];
}

/// Reason why the machine refuses a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// `Start` while the spindle turns.
    #[error("the spindle is running already")]
    AlreadyRunning,
    /// `Stop` while the spindle stands.
    #[error("the spindle has stopped already")]
    AlreadyStopped,
    /// `Start` while the door is open.
    #[error("the door is open")]
    DoorOpen,
    /// Opening the door while the spindle turns.
    #[error("the door is locked while the spindle turns")]
    DoorLocked,
    /// `Start` while the spindle is too hot.
    #[error("the spindle is too hot")]
    TooHot,
}

/// A spindle with its drive.
#[derive(Debug, Clone)]
pub struct Spindle {
    /// Angular velocity, in rad/s.
    omega: f64,
    /// Torque of the motor, in N·m.
    torque: f64,
    temperature: f64,
    /// Speed setpoint, in r/min.
    pub setpoint: f64,
    /// Override of the setpoint, in percent.
    pub override_percent: f64,
    door_closed: bool,
    state: SpindleState,
}

impl Default for Spindle {
    fn default() -> Self {
        Self {
            omega: 0.0,
            torque: 0.0,
            temperature: AMBIENT,
            setpoint: 6_000.0,
            override_percent: 100.0,
            door_closed: true,
            state: SpindleState::Stopped,
        }
    }
}

impl Spindle {
    /// Returns the speed, in r/min.
    pub fn speed(&self) -> f64 {
        self.omega * 60.0 / TAU
    }

    /// Returns the torque as a share of the largest torque of the motor, in percent; always positive.
    pub fn load(&self) -> f64 {
        (self.torque / MAX_TORQUE * 100.0).abs()
    }

    /// Returns the temperature of the housing, in °C.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// Returns the state.
    pub fn state(&self) -> SpindleState {
        self.state
    }

    /// Returns true if the door is closed.
    pub fn door_closed(&self) -> bool {
        self.door_closed
    }

    /// Starts to turn towards the setpoint.
    pub fn start(&mut self) -> Result<(), Refusal> {
        match self.state {
            SpindleState::Running => Err(Refusal::AlreadyRunning),
            SpindleState::TooHot => Err(Refusal::TooHot),
            SpindleState::Stopped | SpindleState::Stopping if !self.door_closed => {
                Err(Refusal::DoorOpen)
            }
            SpindleState::Stopped | SpindleState::Stopping => {
                self.state = SpindleState::Running;
                Ok(())
            }
        }
    }

    /// Brakes to standstill.
    pub fn stop(&mut self) -> Result<(), Refusal> {
        if self.state != SpindleState::Running {
            return Err(Refusal::AlreadyStopped);
        }
        self.state = SpindleState::Stopping;
        Ok(())
    }

    /// Opens or closes the door. It is locked unless the spindle stands.
    pub fn set_door(&mut self, closed: bool) -> Result<(), Refusal> {
        if !closed && self.omega > STANDSTILL {
            return Err(Refusal::DoorLocked);
        }
        self.door_closed = closed;
        Ok(())
    }

    /// Advances the time.
    pub fn advance(&mut self, time: Duration) {
        let dt = time.as_secs_f64();
        let target = match self.state {
            SpindleState::Running => self.setpoint * self.override_percent / 100.0 * TAU / 60.0,
            SpindleState::Stopped | SpindleState::Stopping | SpindleState::TooHot => 0.0,
        };
        let cutting = match self.state {
            // The resistance of the cut grows with the speed.
            SpindleState::Running => CUTTING_TORQUE * self.omega / (MAX_SPEED * TAU / 60.0),
            SpindleState::Stopped | SpindleState::Stopping | SpindleState::TooHot => 0.0,
        };
        let resistance = FRICTION * self.omega + cutting;
        let wanted = CONTROLLER_GAIN * (target - self.omega) + resistance;
        self.torque = wanted.clamp(-MAX_TORQUE, MAX_TORQUE);
        // A step must not carry the speed past the target: the controller would chatter with long steps.
        let step = (self.torque - resistance) / INERTIA * dt;
        let distance = target - self.omega;
        self.omega += if distance >= 0.0 {
            step.min(distance)
        } else {
            step.max(distance)
        };
        self.omega = self.omega.max(0.0);

        let heat = (self.torque * self.omega).abs() * LOSS;
        let cooling = (self.temperature - AMBIENT) / THERMAL_RESISTANCE;
        self.temperature += (heat - cooling) / HEAT_CAPACITY * dt;

        match self.state {
            SpindleState::Stopping if self.omega <= STANDSTILL => {
                self.omega = 0.0;
                self.torque = 0.0;
                self.state = SpindleState::Stopped;
            }
            SpindleState::TooHot
                if self.temperature < TEMPERATURE_RELEASE && self.omega <= STANDSTILL =>
            {
                self.state = SpindleState::Stopped;
            }
            _ if self.temperature > TEMPERATURE_LIMIT => self.state = SpindleState::TooHot,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(spindle: &mut Spindle, seconds: u32) {
        for _ in 0..seconds * 100 {
            spindle.advance(Duration::from_millis(10));
        }
    }

    #[test]
    fn the_speed_reaches_setpoint_times_override() {
        let mut spindle = Spindle {
            override_percent: 50.0,
            ..Spindle::default()
        };
        spindle.start().unwrap();
        spindle.advance(Duration::from_millis(10));
        assert!(spindle.speed() > 0.0 && spindle.speed() < 3_000.0);
        after(&mut spindle, 5);
        assert!(
            (spindle.speed() - 3_000.0).abs() < 1.0,
            "{}",
            spindle.speed()
        );
        assert!(spindle.load() > 1.0);
    }

    #[test]
    fn the_spindle_warms_up_under_load_and_cools_down_at_rest() {
        let mut spindle = Spindle::default();
        spindle.start().unwrap();
        after(&mut spindle, 60);
        let warm = spindle.temperature();
        assert!(warm > AMBIENT + 5.0, "{warm}");
        spindle.stop().unwrap();
        after(&mut spindle, 60);
        assert_eq!(spindle.state(), SpindleState::Stopped);
        assert!(spindle.temperature() < warm);
    }

    #[test]
    fn invalid_commands_are_refused() {
        let mut spindle = Spindle::default();
        assert_eq!(spindle.stop(), Err(Refusal::AlreadyStopped));
        spindle.set_door(false).unwrap();
        assert_eq!(spindle.start(), Err(Refusal::DoorOpen));
        spindle.set_door(true).unwrap();
        spindle.start().unwrap();
        assert_eq!(spindle.start(), Err(Refusal::AlreadyRunning));
        after(&mut spindle, 1);
        assert_eq!(spindle.set_door(false), Err(Refusal::DoorLocked));
    }

    #[test]
    fn the_spindle_stops_when_too_hot_and_recovers() {
        let mut spindle = Spindle {
            setpoint: MAX_SPEED,
            override_percent: MAX_OVERRIDE,
            ..Spindle::default()
        };
        spindle.start().unwrap();
        after(&mut spindle, 600);
        assert!(spindle.temperature() <= TEMPERATURE_LIMIT + 1.0);
        let mut hot = spindle.clone();
        hot.temperature = TEMPERATURE_LIMIT + 0.5;
        hot.state = SpindleState::Running;
        hot.advance(Duration::from_millis(10));
        assert_eq!(hot.state(), SpindleState::TooHot);
        assert_eq!(hot.start(), Err(Refusal::TooHot));
        after(&mut hot, 120);
        assert_eq!(hot.state(), SpindleState::Stopped);
    }
}
