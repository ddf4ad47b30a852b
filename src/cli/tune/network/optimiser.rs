//! Adam (Kingma and Ba, 2014) with decoupled weight decay (Loshchilov and Hutter, 2017), over a part of the
//! parameters at a time.

const FIRST: f32 = 0.9;
const SECOND: f32 = 0.999;
const DECAY: f32 = 0.01;
const EPSILON: f32 = 1e-8;

/// The moments of each parameter's gradient.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    pub first: Vec<f32>,
    pub second: Vec<f32>,
}

impl Moments {
    pub fn new(parameters: usize) -> Moments {
        Moments { first: vec![0.0; parameters], second: vec![0.0; parameters] }
    }
}

/// One step of some parameters with the mean gradient of a batch. `step` counts from 1.
pub fn step(
    parameters: &mut [f32],
    (first, second): (&mut [f32], &mut [f32]),
    gradient: &[f32],
    rate: f32,
    step: u64,
    limit: f32,
) {
    let steps = step.min(1 << 20) as i32;
    let correction = (1.0 - SECOND.powi(steps)).sqrt() / (1.0 - FIRST.powi(steps));
    for (((parameter, first), second), gradient) in parameters.iter_mut().zip(first).zip(second).zip(gradient)
    {
        *first = FIRST * *first + (1.0 - FIRST) * gradient;
        *second = SECOND * *second + (1.0 - SECOND) * gradient * gradient;
        let moved =
            *parameter * (1.0 - rate * DECAY) - rate * correction * *first / (second.sqrt() + EPSILON);
        *parameter = moved.clamp(-limit, limit);
    }
}
