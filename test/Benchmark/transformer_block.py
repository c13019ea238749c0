#!/usr/bin/env python3
# Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a pre-norm transformer block, forward, as linalg on tensors in f32.

usage: transformer_block.py [--batch 8] [--sequence 256] [--width 1024] [--heads 16]

Arguments: x [batch, sequence, width], then the weights: gain and bias of the first norm, of q, k and v
[width, 3 * width], of the projection [width, width], gain and bias of the second norm, of the two layers of the
MLP [width, 4 * width] and [4 * width, width]. Attention is not masked; the activation is gelu by tanh.
"""
import argparse


class Block:
    """Builds a function, one operation after the other; values carry their shape."""

    def __init__(self):
        self.lines, self.shapes, self.count = [], {}, 0

    def name(self, shape):
        self.count += 1
        value = f"%{self.count}"
        self.shapes[value] = tuple(shape)
        return value

    def type(self, value):
        return tensor(self.shapes[value])

    def emit(self, shape, text):
        value = self.name(shape)
        self.lines.append(f"    {value} = {text}")
        return value

    def empty(self, shape):
        return self.emit(shape, f"tensor.empty() : {tensor(shape)}")

    def generic(self, sizes, ins, out, body, init=None):
        """An operation over the dims named in `sizes`; `ins` are pairs of value and dims, `out` the result's dims."""
        names = list(sizes)
        shape = [sizes[d] for d in out]
        base = self.empty(shape)
        if init:
            base = self.emit(shape, f"linalg.fill ins({init} : f32) outs({base} : {tensor(shape)}) -> {tensor(shape)}")
        maps = [f"affine_map<({', '.join(names)}) -> ({', '.join(dims)})>" for dims in [d for _, d in ins] + [out]]
        kinds = ", ".join('"parallel"' if d in out else '"reduction"' for d in names)
        values = ", ".join(v for v, _ in ins)
        types = ", ".join(self.type(v) for v, _ in ins)
        arguments = ", ".join(f"%in{i}: f32" for i in range(len(ins)))
        lines = "\n".join("      " + l for l in body)
        return self.emit(shape, f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} "
                         f"ins({values} : {types}) outs({base} : {tensor(shape)}) {{\n"
                         f"    ^bb0({arguments}, %out: f32):\n{lines}\n    }} -> {tensor(shape)}")

    def reshape(self, kind, value, shape, groups):
        sizes = f" output_shape {list(shape)}" if kind == "expand" else ""
        return self.emit(shape, f"tensor.{kind}_shape {value} {groups}{sizes} : {self.type(value)} into {tensor(shape)}")


def tensor(shape):
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


def combine(op):
    return [f"%r = arith.{op} %in0, %out : f32", "linalg.yield %r : f32"]


PRODUCT = ["%p = arith.mulf %in0, %in1 : f32", "%r = arith.addf %out, %p : f32", "linalg.yield %r : f32"]
SCALE = ["%r = arith.mulf %in0, %scale : f32", "linalg.yield %r : f32"]


def norm(block, x, gain, bias, sizes):
    b, s, d = "b", "s", "d"
    total = block.generic(sizes, [(x, [b, s, d])], [b, s], combine("addf"), init="%zero")
    square = ["%q = arith.mulf %in0, %in0 : f32", "%r = arith.addf %out, %q : f32", "linalg.yield %r : f32"]
    squares = block.generic(sizes, [(x, [b, s, d])], [b, s], square, init="%zero")
    body = ["%mean = arith.mulf %in1, %inverse : f32", "%ms = arith.mulf %in2, %inverse : f32",
            "%m2 = arith.mulf %mean, %mean : f32", "%var = arith.subf %ms, %m2 : f32",
            "%ve = arith.addf %var, %epsilon : f32", "%rs = math.rsqrt %ve : f32",
            "%c = arith.subf %in0, %mean : f32", "%n = arith.mulf %c, %rs : f32", "%g = arith.mulf %n, %in3 : f32",
            "%r = arith.addf %g, %in4 : f32", "linalg.yield %r : f32"]
    return block.generic(sizes, [(x, [b, s, d]), (total, [b, s]), (squares, [b, s]), (gain, [d]), (bias, [d])],
                         [b, s, d], body)


def linear(block, x, weight, sizes):
    return block.generic(sizes, [(x, ["b", "s", "i"]), (weight, ["i", "o"])], ["b", "s", "o"], PRODUCT, init="%zero")


def attention(block, qkv, batch, sequence, width, heads):
    def part(i):
        shape = (batch, sequence, width)
        value = block.emit(shape, f"tensor.extract_slice {qkv}[0, 0, {i * width}] {list(shape)} [1, 1, 1] : "
                           f"{block.type(qkv)} to {tensor(shape)}")
        return block.reshape("expand", value, (batch, sequence, heads, width // heads), "[[0], [1], [2, 3]]")

    q, k, v = part(0), part(1), part(2)
    sizes = dict(b=batch, h=heads, s=sequence, t=sequence, e=width // heads)
    scores = block.generic(sizes, [(q, ["b", "s", "h", "e"]), (k, ["b", "t", "h", "e"])], ["b", "h", "s", "t"],
                           PRODUCT, init="%zero")
    sizes = dict(b=batch, h=heads, s=sequence, t=sequence)
    full, row = ["b", "h", "s", "t"], ["b", "h", "s"]
    scores = block.generic(sizes, [(scores, full)], full, SCALE)
    largest = block.generic(sizes, [(scores, full)], row, combine("maximumf"), init="%least")
    exp = ["%d = arith.subf %in0, %in1 : f32", "%r = math.exp %d : f32", "linalg.yield %r : f32"]
    weights = block.generic(sizes, [(scores, full), (largest, row)], full, exp)
    total = block.generic(sizes, [(weights, full)], row, combine("addf"), init="%zero")
    divide = ["%r = arith.divf %in0, %in1 : f32", "linalg.yield %r : f32"]
    weights = block.generic(sizes, [(weights, full), (total, row)], full, divide)
    sizes = dict(b=batch, s=sequence, h=heads, e=width // heads, t=sequence)
    mixed = block.generic(sizes, [(weights, ["b", "h", "s", "t"]), (v, ["b", "t", "h", "e"])], ["b", "s", "h", "e"],
                          PRODUCT, init="%zero")
    return block.reshape("collapse", mixed, (batch, sequence, width), "[[0], [1], [2, 3]]")


def gelu(block, x, sizes):
    body = ["%x2 = arith.mulf %in0, %in0 : f32", "%x3 = arith.mulf %x2, %in0 : f32",
            "%c3 = arith.mulf %x3, %cubic : f32", "%sum = arith.addf %in0, %c3 : f32",
            "%arg = arith.mulf %sum, %root : f32", "%t = math.tanh %arg : f32", "%t1 = arith.addf %t, %one : f32",
            "%h = arith.mulf %in0, %half : f32", "%r = arith.mulf %h, %t1 : f32", "linalg.yield %r : f32"]
    return block.generic(sizes, [(x, ["b", "s", "o"])], ["b", "s", "o"], body)


def add(block, a, b, sizes):
    dims = ["b", "s", "d"]
    body = ["%r = arith.addf %in0, %in1 : f32", "linalg.yield %r : f32"]
    return block.generic(sizes, [(a, dims), (b, dims)], dims, body)


def contractions(batch, sequence, width, heads):
    """The contractions of the block as (batch, m, n, k)."""
    rows, head = batch * sequence, width // heads
    return [(1, rows, 3 * width, width), (batch * heads, sequence, sequence, head),
            (batch * heads, sequence, head, sequence), (1, rows, width, width), (1, rows, 4 * width, width),
            (1, rows, width, 4 * width)]


def print_block(batch, sequence, width, heads):
    block = Block()
    shapes = [(batch, sequence, width), (width,), (width,), (width, 3 * width), (width, width), (width,), (width,),
              (width, 4 * width), (4 * width, width)]
    x, gain1, bias1, wqkv, wproj, gain2, bias2, wup, wdown = arguments = [block.name(s) for s in shapes]
    sizes = dict(b=batch, s=sequence, d=width)

    def to(inner, outer):
        return dict(b=batch, s=sequence, o=outer, i=inner)

    qkv = linear(block, norm(block, x, gain1, bias1, sizes), wqkv, to(width, 3 * width))
    mixed = attention(block, qkv, batch, sequence, width, heads)
    x = add(block, x, linear(block, mixed, wproj, to(width, width)), sizes)
    up = linear(block, norm(block, x, gain2, bias2, sizes), wup, to(width, 4 * width))
    up = gelu(block, up, dict(b=batch, s=sequence, o=4 * width))
    x = add(block, x, linear(block, up, wdown, to(4 * width, width)), sizes)
    constants = dict(zero=0.0, one=1.0, half=0.5, least="0xFF800000", scale=(width / heads) ** -0.5,
                     inverse=1.0 / width, epsilon=1e-5, cubic=0.044715, root=0.7978845608)
    print(f"func.func @main({', '.join(f'{a}: {block.type(a)}' for a in arguments)}) -> {block.type(x)} {{")
    for name, value in constants.items():
        print(f"    %{name} = arith.constant {value if isinstance(value, str) else f'{value:.9e}'} : f32")
    print("\n".join(block.lines))
    print(f"    return {x} : {block.type(x)}\n}}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name, value in dict(batch=8, sequence=256, width=1024, heads=16).items():
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    print_block(options.batch, options.sequence, options.width, options.heads)


if __name__ == "__main__":
    main()
