"""CONTRIBUTING.md's teachers as tensors, for samples that `engram tune sample` wrote without a label: networks of
Stockfish 15.1 (.nnue) and plain ones (.bin) in one folder.

A processor core labels some 37,000 samples a second and its searches find twice as many; a device labels millions.
The numbers are those of the programs, but for roundings of float16.
"""

import struct
from pathlib import Path

import numpy
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

NONE = 6  # The code of an empty square.
LIMIT = 3000  # Larger scores, in centipawns, show no more than that a position is won.


def towards_zero(numbers: Tensor, divisor: int) -> Tensor:
    return torch.div(numbers, divisor, rounding_mode="trunc")


def floor(numbers: Tensor, divisor: int) -> Tensor:
    return torch.div(numbers, divisor, rounding_mode="floor")


class Halfkav2:
    """Stockfish 15.1's network (HalfKAv2_hm, 1,024 units, then 15 and 32), scaled as the engine scales it."""

    INPUTS, UNITS, HEADS, FIRST, SECOND = 64 * 11 * 32, 1024, 8, 16, 32
    VERSION = (0x7AF32F20, 0x1C102EF2)  # Of the format, and a hash of these sizes.

    def __init__(self, path: Path, device: torch.device) -> None:
        data = path.read_bytes()
        if struct.unpack_from("<2I", data.ljust(8)) != self.VERSION:
            raise SystemExit(f"{path}: it is not a network of Stockfish 15.1")
        place = 12 + struct.unpack_from("<I", data, 8)[0]

        def numbers(kind: str, *shape: int) -> Tensor:
            nonlocal place
            array = numpy.frombuffer(data, kind, int(numpy.prod(shape)), place).reshape(shape)
            place += array.nbytes
            return torch.from_numpy(array.astype(numpy.float32)).to(device)

        place += 4  # A hash, here and before each head.
        self.biases = numbers("<i2", self.UNITS)
        weights, psqt = numbers("<i2", self.INPUTS, self.UNITS), numbers("<i4", self.INPUTS, self.HEADS)
        # The last row is that of an empty square.
        self.weights, self.psqt = (torch.cat((part, torch.zeros_like(part[:1]))) for part in (weights, psqt))
        self.weights = self.weights.half()
        heads = []
        for _ in range(self.HEADS):
            place += 4
            layers = ((self.FIRST, self.UNITS), (self.SECOND, 32), (1, 32))
            heads.append([part for to, of in layers for part in (numbers("<i4", to), numbers("<i1", to, of))])
        self.layers = [torch.stack(parts) for parts in zip(*heads)]
        self.material = torch.tensor([0, 781, 825, 1276, 2538, 0, 0, 0] * 2, device=device)

    def centipawns(self, code: Tensor, kings: Tensor) -> Tensor:
        count, view = len(code), torch.arange(2, device=code.device)
        # Mirrored so that the own king is on the files e to h.
        mirror = (kings >> 2 & 1 ^ 1) * 7
        king = (kings ^ mirror)[:, :, None]
        square = torch.arange(64, device=code.device) ^ (mirror ^ 56 * view)[:, :, None]
        role, theirs = (code & 7)[:, None], (code >> 3)[:, None] ^ view[:, None]
        piece = torch.where(role == 5, 10, 2 * role + theirs)
        inputs = square + 64 * (piece + 11 * (4 * (7 - (king >> 3)) + 7 - (king & 7)))
        inputs = torch.where((code == NONE)[:, None], self.INPUTS, inputs).view(-1, 64)
        head = floor((code != NONE).sum(1) - 1, 4)

        def layer(active: Tensor, biases: Tensor, weights: Tensor) -> Tensor:
            outputs = (active @ weights.flatten(0, 1).T).view(count, self.HEADS, -1)
            return outputs[torch.arange(count, device=head.device), head] + biases[head]

        def summed(rows: Tensor) -> Tensor:
            return embedding_bag(inputs, rows, mode="sum", padding_idx=self.INPUTS).float().view(count, 2, -1)

        low, high = (summed(self.weights) + self.biases).clamp(0, 127).view(count, 2, 2, -1).unbind(2)
        psqt = summed(self.psqt)[torch.arange(count, device=head.device), :, head]
        first_biases, first, second_biases, second, output_biases, outputs = self.layers
        sums = layer(floor(low * high, 128).flatten(1), first_biases, first)
        units = sums[:, : self.FIRST - 1]
        active = torch.cat((floor(units.square(), 1 << 19), floor(units, 64)), 1).clamp(0, 127)
        active = floor(layer(active, second_biases, second[:, :, : active.shape[1]]), 64).clamp(0, 127)
        value = layer(active, output_biases, outputs)[:, 0]
        positional = (value + towards_zero(sums[:, -1] * 9600, 127 * 64)).long()
        psqt = towards_zero(psqt[:, 0] - psqt[:, 1], 2).long()
        material = self.material[code].sum(1)
        delta = 24 - floor(material, 9560)
        value = towards_zero((1024 - delta) * psqt + (1024 + delta) * positional, 1024 * 16)
        value = towards_zero(value * (1064 + floor(106 * material, 5120)), 1024)
        return towards_zero(value * 100, 361)


class Plain:
    """The mean of plain networks: see plain_teacher.rs."""

    INPUTS, UNITS = 768, 1024

    def __init__(self, paths: list[Path], factor: float, device: torch.device) -> None:
        self.factor, self.networks = factor, []
        length = 2 * (self.INPUTS * self.UNITS + 3 * self.UNITS + 1)
        for path in paths:
            # Padded to a multiple of 64.
            if not length <= path.stat().st_size <= length + -length % 64:
                raise SystemExit(f"{path}: it is not a plain network of {self.UNITS} units, which has {length} bytes")
            numbers = torch.from_numpy(numpy.fromfile(path, "<i2").astype(numpy.float32)).to(device)
            weights, rest = numbers[: self.INPUTS * self.UNITS], numbers[self.INPUTS * self.UNITS :]
            biases, outputs, bias = rest[: self.UNITS], rest[self.UNITS : 3 * self.UNITS], rest[3 * self.UNITS]
            self.networks.append((weights.view(self.INPUTS, -1), biases, outputs, bias))
        self.kind = torch.float16 if device.type == "cuda" else torch.float32
        self.material = torch.tensor([132, 414, 432, 661, 1217, 0, 0, 0] * 2, device=device)

    def centipawns(self, code: Tensor, kings: Tensor) -> Tensor:
        view = torch.arange(2, device=code.device)
        mirror = (kings >> 2 & 1) * 7
        square = torch.arange(64, device=code.device) ^ (mirror ^ 56 * view)[:, :, None]
        kind = (code & 7)[:, None] + 6 * ((code >> 3)[:, None] ^ view[:, None])
        # A column more for the empty squares.
        inputs = torch.where((code == NONE)[:, None], self.INPUTS, kind * 64 + square).view(-1, 64)
        ones = torch.zeros((len(inputs), self.INPUTS + 1), dtype=self.kind, device=code.device)
        ones = ones.scatter_(1, inputs, 1.0)[:, :-1]
        total = 0
        for weights, biases, outputs, bias in self.networks:
            sums = torch.addmm(biases.to(self.kind), ones, weights.to(self.kind)).clamp(0, 384).float()
            output = sums.square().view(len(code), -1) @ outputs
            total = total + towards_zero((towards_zero(output, 384) + bias) * 400, 384 * 64)
        grown = total / len(self.networks) * (21682 + self.material[code].sum(1)) / 28993
        return (grown * self.factor).long()


class Teachers:
    """The label is the mean of what they say."""

    def __init__(self, folder: Path, factor: float, device: torch.device) -> None:
        stockfish = [Halfkav2(path, device) for path in sorted(folder.glob("*.nnue"))]
        plain = sorted(folder.glob("*.bin"))
        self.teachers = [*stockfish, *([Plain(plain, factor, device)] if plain else [])]
        if not self.teachers:
            raise SystemExit(f"there are no networks (.nnue, .bin) in {folder}")

    @torch.no_grad()
    def label(self, words: Tensor, code: Tensor, kings: Tensor) -> Tensor:
        """The samples with their scores, which are the lowest 16 bits of the last word."""
        said = [teacher.centipawns(code, kings).clamp(-LIMIT, LIMIT) for teacher in self.teachers]
        score = towards_zero(sum(said), len(said)) & 0xFFFF
        return torch.cat((words[:, :3], (words[:, 3:] & ~0xFFFF) | score[:, None]), 1)
