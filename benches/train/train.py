#!/usr/bin/env python3
"""Trains Engram's network on a machine with an accelerator (PyTorch with CUDA); it runs on a processor too, slowly.

    python3 benches/train/train.py samples.bin --net new.net --positions 1000000000
    python3 benches/train/train.py samples.bin --growing PID --from engram.net --units 1024 --seconds 99

`engram tune train` is the definition (src/cli/tune/network): this program does the same to the same files, with the
same network, loss, limits of the weights and steps, in the order that suits the device. What differs:

- All samples that have been read stay in the device's memory, and batches are drawn from them with replacement. While
  the process that --growing names lives, the files are still being written: the trainer waits for more rather than draw
  each sample more than --passes times on average, and draws later samples more often (the largest of three random
  numbers), so that in the end all have been drawn about equally often.
- The learning rate falls to zero over --positions samples or over --seconds, whichever comes first.
- --from a network with fewer units doubles some of them: twice the unit, half of the weights behind it, a little
  noise of opposite signs.
- With --teachers the samples are labelled as they are read (teachers.py).
- On the device the first layer is a product of matrices: 32 ones among 3,072 inputs are few, but a multiplication by
  zero costs less there than an addition to an address that others add to. The sums are rounded to 11 bits (float16),
  the gradients to 8 (bfloat16); the loss held out is computed in float32.

The network is written every --every seconds and at the end, also on an interrupt (Ctrl-C, SIGTERM).
"""

import argparse
import math
import os
import signal
import struct
import time
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy
import torch
from torch import Tensor
from torch.nn.functional import linear

from teachers import NONE, Teachers

BUCKET_INPUTS, BUCKETS, HEADS, PAWN_INPUTS, PAWN_UNITS = 768, 4, 8, 96, 32
INPUTS = BUCKETS * BUCKET_INPUTS
ONE_INPUT, ONE_HEAD = 127, 128
SCALE = 220.0  # Centipawns of one natural unit of the logistic function.
ROW_LIMIT, LIMIT = 1.0, 1.98  # Of the first layer's rows, and of all else.
ADAM_FIRST, ADAM_SECOND, DECAY, EPSILON = 0.9, 0.999, 0.01, 1e-8
VERSION = 3


# The network's file: see src/eval/net/file.rs.


def plan(units: int) -> list[tuple[str, tuple[int, ...], str, int]]:
    """The parts of a network in the order of its file: name, shape, kind of the integers, the integer for 1.0."""
    return [
        ("weights", (INPUTS, units), "<i1", ONE_INPUT),
        ("biases", (units,), "<i2", ONE_INPUT),
        ("heads", (HEADS, 2 * units), "<i2", ONE_HEAD),
        ("head_biases", (HEADS,), "<i4", ONE_INPUT * ONE_HEAD),
        ("pawn_weights", (PAWN_INPUTS, PAWN_UNITS), "<i2", ONE_INPUT),
        ("pawn_biases", (PAWN_UNITS,), "<i2", ONE_INPUT),
        ("pawn_outputs", (HEADS, 2, PAWN_UNITS), "<i2", ONE_HEAD),
        ("pawn_output_biases", (HEADS, 2), "<i4", ONE_INPUT * ONE_HEAD),
    ]


def read_network(path: Path) -> dict[str, Tensor]:
    """The parts of a network in floating point."""
    data = path.read_bytes()
    if data[:8] != b"EngramNN" or len(data) < 64:
        raise SystemExit(f"{path}: it is not a network of Engram's")
    version, inputs, units, heads, scale, checksum, pawn_units = struct.unpack_from("<7I", data, 8)
    sizes = (version, inputs, heads, scale, pawn_units)
    if sizes != (VERSION, INPUTS, HEADS, SCALE, PAWN_UNITS):
        raise SystemExit(f"{path}: it has another version or other sizes than this trainer's networks")
    if zlib.crc32(data[64:]) != checksum:
        raise SystemExit(f"{path}: its checksum is wrong: copy it again")
    network, place = {}, 64
    for name, shape, kind, one in plan(units):
        numbers = numpy.frombuffer(data, kind, math.prod(shape), place).astype(numpy.float32) / numpy.float32(one)
        network[name] = torch.from_numpy(numbers.reshape(shape))
        place += math.prod(shape) * numpy.dtype(kind).itemsize
    return network


def in_integers(number: Tensor, one: int) -> Tensor:
    """In units of 1 / `one`; half is rounded away from zero, as the definition does."""
    return number.sign() * (number.abs() * one + 0.5).floor()


def rounded(network: dict[str, Tensor]) -> dict[str, Tensor]:
    """What the integers stand for, with the parameters' own gradients (straight-through estimator)."""
    ones = {name: one for name, _, _, one in plan(network["biases"].numel())}
    return {name: part + (in_integers(part, ones[name]) / ones[name] - part).detach() for name, part in network.items()}


def write_network(path: Path, network: dict[str, Tensor]) -> None:
    """Writes a network in integers."""
    units = network["biases"].numel()
    payload = b""
    for name, _, kind, one in plan(units):
        payload += in_integers(network[name].detach(), one).cpu().numpy().astype(kind).tobytes()
    sizes = (VERSION, INPUTS, units, HEADS, int(SCALE), zlib.crc32(payload), PAWN_UNITS)
    header = b"EngramNN" + struct.pack("<7I", *sizes)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_bytes(header.ljust(64, b"\0") + payload)
    os.replace(unfinished, path)


def begin(units: int, old: dict[str, Tensor]) -> dict[str, Tensor]:
    """The parameters to begin with: those of `old` as far as it has them, random ones else."""

    def normal(deviation: float, *shape: int) -> Tensor:
        return deviation * torch.randn(*shape)

    network = {name: torch.zeros(shape) for name, shape, _, _ in plan(units)}
    if old:
        before = old["biases"].numel()
        if before > units:
            raise SystemExit(f"the network to begin with has {before} units: more than --units {units}")
        source = torch.arange(units) % before
        copies = torch.bincount(source)[source].float()
        # The copies of a unit have noise of opposite signs.
        sign = (1.0 - 2.0 * (torch.arange(units) >= before)) * (copies > 1)
        noise = normal(0.01, INPUTS, before)[:, source] * sign
        network["weights"] = (old["weights"][:, source] + noise).clamp(-ROW_LIMIT, ROW_LIMIT)
        network["biases"] = old["biases"][source]
        network["heads"] = (old["heads"].unflatten(-1, (2, before))[..., source] / copies).flatten(-2)
        # What does not depend on the units; two copies of one part are alike.
        same = [name for name in network if name not in ("weights", "biases", "heads")]
        network.update({name: old[name] for name in same})
    else:
        network["weights"] = normal(0.05, INPUTS, units)
        network["heads"] = normal(units**-0.5, HEADS, 2 * units)
        network["pawn_weights"] = normal(0.2, PAWN_INPUTS, PAWN_UNITS)
    return network


# Samples: 32 bytes each, here four words of 64 bits: see src/cli/tune/network/record.rs.


def codes(words: Tensor) -> Tensor:
    """The code of the piece on each square: role (pawn 0 to king 5), 8 more for the opponent's, NONE if empty."""
    occupied = (words[:, :1] >> torch.arange(64, device=words.device)) & 1
    number = (occupied.cumsum(1) - 1).clamp(0, 31)
    code = (words[:, 1:3].gather(1, number >> 4) >> (4 * (number & 15))) & 15
    return code.masked_fill(occupied == 0, NONE)


def kings_of(words: Tensor) -> Tensor:
    """The squares of the mover's and the opponent's king, on the board as each side sees it."""
    return torch.stack((words[:, 3] >> 24, words[:, 3] >> 32), 1) & 63


def is_sound(words: Tensor) -> Tensor:
    """Which samples are positions with two kings."""
    code, kings = codes(words), kings_of(words)
    pieces = (code != NONE).sum(1)
    one_each = ((code == 5).sum(1) == 1) & ((code == 13).sum(1) == 1)
    at = code.gather(1, kings ^ (56 * torch.arange(2, device=words.device)))
    roles = ((code & 7 < 6) | (code == NONE)).all(1)
    return (pieces <= 32) & one_each & roles & (at[:, 0] == 5) & (at[:, 1] == 13)


def features(words: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The inputs of both views [samples, 2, 64] (the king's again for each empty square), the head, the pawn inputs."""
    code, kings, device = codes(words), kings_of(words), words.device
    mirror = (kings >> 2 & 1) * 7
    king = kings ^ mirror
    view = torch.arange(2, device=device)
    square = torch.arange(64, device=device) ^ (mirror ^ 56 * view)[:, :, None]
    kind = (code & 7)[:, None] + 6 * ((code >> 3)[:, None] ^ view[:, None])
    empty = (code == NONE)[:, None]
    # Castled, in the middle of the first rank, on the second rank, beyond it.
    bucket = torch.where(king < 8, king >> 1, (king >> 3) + 1).clamp(max=BUCKETS - 1)
    inputs = torch.where(empty, 5 * 64 + king[:, :, None], kind * 64 + square) + BUCKET_INPUTS * bucket[:, :, None]
    head = torch.div((code != NONE).sum(1) - 1, 4, rounding_mode="floor").clamp(max=HEADS - 1)
    board = code[:, 8:56]
    return inputs, head, torch.cat((board == 0, board == 8), 1).float()


def targets(words: Tensor, share: float) -> Tensor:
    """The expected scores, `share` of each the result of the game where that is known."""
    # The score is the lowest 16 bits, with a sign.
    score = ((words[:, 3] & 0xFFFF ^ 0x8000) - 0x8000).float()
    result = words[:, 3] >> 16 & 255
    teacher = torch.sigmoid(score / SCALE)
    return torch.where(result > 2, teacher, teacher + share * (0.5 * result - teacher))


class Pool:
    """The samples of files, which may be growing, in the memory of a device."""

    CHUNK = 1 << 17

    def __init__(self, paths: list[Path], most: int, device: torch.device, teachers: Teachers | None = None) -> None:
        self.teachers = teachers
        self.words = torch.empty((most, 4), dtype=torch.int64, device=device)
        self.count = 0
        self.read_bytes = {path: 0 for path in paths}

    def read(self) -> None:
        """Reads what has been added to the files."""
        for path, place in self.read_bytes.items():
            while path.exists() and self.count < len(self.words):
                room = min(self.CHUNK, len(self.words) - self.count)
                numbers = numpy.fromfile(path, "<i8", 4 * room, offset=place)
                numbers = numbers[: numbers.size // 4 * 4].reshape(-1, 4)
                if not len(numbers):
                    break
                place += 32 * len(numbers)
                words = torch.from_numpy(numbers).to(self.words.device)
                words = words[is_sound(words)]
                if self.teachers:
                    words = self.teachers.label(words, codes(words), kings_of(words))
                self.words[self.count : self.count + len(words)] = words
                self.count += len(words)
            self.read_bytes[path] = place

    def left_out(self) -> int:
        """The samples of the files for which there is no room."""
        return sum((path.stat().st_size - place) // 32 for path, place in self.read_bytes.items() if path.exists())

    def draw(self, batch: int, growing: bool) -> Tensor:
        places = torch.randint(self.count, (3 if growing else 1, batch), device=self.words.device)
        return self.words[places.amax(0)]


# The network's arithmetic: see src/cli/tune/network/model.rs.


def activate(sums: Tensor) -> Tensor:
    return sums.clamp(0, 1).square()


def slopes(sums: Tensor, by_active: Tensor) -> Tensor:
    """The slopes by the sums of units, from those by their activations."""
    clipped = sums.clamp(0, 1)
    return (2 * clipped * by_active * (clipped == sums)).to(by_active.dtype)


def dense(inputs: Tensor, kind: torch.dtype) -> Tensor:
    """Ones at the inputs of each view [2 * samples, INPUTS]."""
    rows = inputs.view(-1, 64)
    return torch.zeros((len(rows), INPUTS), dtype=kind, device=rows.device).scatter_(1, rows, 1.0)


class Kinds(NamedTuple):
    """The numbers in which the first layer and the outputs behind it are computed, forwards and backwards."""

    forwards: torch.dtype = torch.float32
    backwards: torch.dtype = torch.float32


class Units(torch.autograd.Function):
    """The outputs [samples, outputs] over the activations of both views."""

    @staticmethod
    def forward(ctx, inputs: Tensor, weights: Tensor, biases: Tensor, outputs: Tensor, kinds: Kinds) -> Tensor:
        kind = kinds.forwards
        sums = torch.addmm(biases.to(kind), dense(inputs, kind), weights.to(kind)).view(len(inputs), -1)
        ctx.save_for_backward(inputs, sums, outputs)
        ctx.kind = kinds.backwards
        return (activate(sums) @ outputs.to(kind).T).float()

    @staticmethod
    def backward(ctx, slope: Tensor) -> tuple:
        (inputs, sums, outputs), kind = ctx.saved_tensors, ctx.kind
        slope = slope.to(kind)
        output_gradient = slope.T @ activate(sums).to(kind)
        unit_slopes = slopes(sums, slope @ outputs.to(kind)).view(2 * len(inputs), -1)
        gradient = dense(inputs, kind).T @ unit_slopes
        bias_gradient = unit_slopes.sum(0, dtype=torch.float32)
        return None, gradient.float(), bias_gradient, output_gradient.float(), None


def of_head(outputs: Tensor, head: Tensor) -> Tensor:
    """Those of the outputs [samples, HEADS * n] that belong to each sample's head [samples, n]."""
    outputs = outputs.view(len(head), HEADS, -1)
    return outputs.gather(1, head[:, None, None].expand(-1, 1, outputs.shape[2])).squeeze(1)


def output(network: dict[str, Tensor], words: Tensor, kinds: Kinds) -> Tensor:
    """The network's output for samples, in natural units of the logistic function."""
    with torch.no_grad():
        inputs, head, pawns = features(words)
    which = (head[:, None] == torch.arange(HEADS, device=head.device)).float()
    outputs = Units.apply(inputs, network["weights"], network["biases"], network["heads"], kinds)
    value = of_head(outputs, head).squeeze(1) + which @ network["head_biases"]
    active = torch.addmm(network["pawn_biases"], pawns, network["pawn_weights"]).clamp(0, 1)
    outputs = linear(active, network["pawn_outputs"].flatten(0, 1), network["pawn_output_biases"].flatten())
    gate, shift = of_head(outputs, head).unbind(1)
    return value * (1 + gate) + shift


class Training:
    """The parameters in one vector, their gradients and moments."""

    def __init__(self, network: dict[str, Tensor], device: torch.device) -> None:
        self.parameters = torch.cat([part.flatten() for part in network.values()]).to(device)
        self.gradient, self.first, self.second = (torch.zeros_like(self.parameters) for _ in range(3))
        self.network, place = {}, 0
        for name, part in network.items():
            end = place + part.numel()
            leaf = self.parameters[place:end].view(part.shape).detach().requires_grad_()
            leaf.grad = self.gradient[place:end].view(part.shape)
            self.network[name] = leaf
            place = end
        self.kinds = Kinds(torch.float16, torch.bfloat16) if device.type == "cuda" else Kinds()
        self.steps = 0

    def losses(self, words: Tensor, share: float, kinds: Kinds) -> Tensor:
        said = torch.sigmoid(output(rounded(self.network), words, kinds))
        return (said - targets(words, share)).square()

    @torch.no_grad()
    def loss(self, words: Tensor, share: float) -> float:
        if not len(words):
            return 0.0
        parts = [self.losses(part, share, Kinds()).double().sum() for part in words.split(1 << 13)]
        return (sum(parts) / len(words)).item()

    def step(self, words: Tensor, share: float, rate: float) -> Tensor:
        """One step of Adam; the mean loss."""
        self.gradient.zero_()
        loss = self.losses(words, share, self.kinds).mean()
        loss.backward()
        self.steps += 1
        correction = math.sqrt(1 - ADAM_SECOND**self.steps) / (1 - ADAM_FIRST**self.steps)
        self.first.lerp_(self.gradient, 1 - ADAM_FIRST)
        self.second.mul_(ADAM_SECOND).addcmul_(self.gradient, self.gradient, value=1 - ADAM_SECOND)
        self.parameters.mul_(1 - rate * DECAY)
        self.parameters.addcdiv_(self.first, self.second.sqrt().add_(EPSILON), value=-rate * correction)
        self.parameters.clamp_(-LIMIT, LIMIT)
        self.network["weights"].data.clamp_(-ROW_LIMIT, ROW_LIMIT)
        return loss.detach()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("samples", type=Path, nargs="+", help="files of samples, as `engram tune sample` writes them")
    add("--growing", type=int, metavar="PID", help="the process that is still writing the files")
    add("--teachers", type=Path, help="a folder with the networks that label the samples: see teachers.py")
    add("--factor", type=float, default=0.2917, help="by which the output of the plain ones is multiplied")
    add("--held-out", type=Path, help="samples of other games, of which 200,000 are the validation")
    add("--net", type=Path, default=Path("engram.net"), help="the file to write the network to")
    add("--from", type=Path, dest="source", help="begin with the parameters of this network")
    add("--units", type=int, default=1024, help="hidden units of a view, a multiple of 32")
    add("--positions", type=int, default=1 << 62, help="samples to draw in all")
    add("--seconds", type=float, default=math.inf, help="seconds to train at most, with the wait for samples")
    add("--passes", type=float, default=4, help="how often each sample is drawn at most, on average")
    add("--rate", type=float, default=0.0015, help="first learning rate")
    add("--result", type=float, default=0.0, help="the share of the game's result in the target, 0 to 1")
    add("--batch", type=int, default=16_384, help="samples a step")
    add("--least", type=int, default=1_000_000, help="with --growing: samples to wait for before the first step")
    add("--memory", type=int, default=300_000_000, help="samples in memory at most, 32 bytes each")
    add("--every", type=float, default=60, help="seconds between two networks written")
    add("--seed", type=int, default=1)
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    if given.units < 32 or given.units % 32:
        parser.error("--units is a multiple of 32")
    if given.net in [*given.samples, given.held_out, given.source]:
        parser.error("--net is one of the files that are read")
    if given.held_out in given.samples:
        parser.error("--held-out is one of the files to train on")
    if not 0 <= given.result <= 1:
        parser.error("--result is a share, 0 to 1")
    return given


def lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def main() -> None:
    began = time.monotonic()
    given = arguments()
    torch.manual_seed(given.seed)
    device = torch.device(given.device)
    if device.type == "cuda":
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    old = read_network(given.source) if given.source else {}
    training = Training(begin(given.units, old), device)
    held_out = Pool([given.held_out] if given.held_out else [], 200_000, device)
    held_out.read()
    held = held_out.words[: held_out.count]
    stopped = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.append(True))
    loss = training.loss(held, given.result)
    print(f"{len(training.parameters)} parameters, {len(held)} samples held out with a loss of {loss:.6f}", flush=True)
    teachers = Teachers(given.teachers, given.factor, device) if given.teachers else None
    pool = Pool(given.samples, given.memory, device, teachers)
    drawn, said, progress, sums, count = 0, time.monotonic(), 0.0, torch.zeros((), device=device), 0
    checked, before, growing = -math.inf, 0, False
    while not stopped and progress < 1:
        now = time.monotonic()
        if now - checked > 0.5:
            # In this order: what the process wrote before its end is read.
            growing = given.growing is not None and lives(given.growing)
            pool.read()
            checked = now
        if not pool.count and not growing:
            raise SystemExit("there are no samples in the files")
        most = given.positions if growing else min(given.positions, given.passes * pool.count)
        progress = max(drawn / most if most else 0, (now - began) / given.seconds)
        if growing and (pool.count < given.least or drawn > given.passes * pool.count) and progress < 1:
            time.sleep(0.1)
        elif progress < 1:
            rate = given.rate * 0.5 * (1 + math.cos(math.pi * progress))
            words = pool.draw(given.batch, growing)
            sums += training.step(words, given.result, rate)
            drawn, count = drawn + given.batch, count + 1
        if now - said > given.every or progress >= 1 or stopped:
            write_network(given.net, training.network)
            mean, loss = (sums / max(1, count)).item(), training.loss(held, given.result)
            speed = (drawn - before) / (time.monotonic() - said)
            print(
                f"{now - began:5.0f} s, {100 * progress:3.0f} %: {pool.count / 1e6:.1f} M samples, {drawn / 1e6:.1f} M"
                f" drawn, {speed:.0f} a second: loss {mean:.6f}, held out {loss:.6f}",
                flush=True,
            )
            said, before, count, sums = time.monotonic(), drawn, 0, torch.zeros((), device=device)
    write_network(given.net, training.network)
    if left_out := pool.left_out():
        print(f"{left_out} samples were left out: --memory is {given.memory}", flush=True)


if __name__ == "__main__":
    main()
