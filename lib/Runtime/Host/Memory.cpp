//===- Memory.cpp - Memory of a device in the host backend ----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

/// Sits before the memory that the caller gets.
struct alignas(kAlignment) Memory::Block {
  static constexpr uint64_t kLive = 0x746f66756c697665;

  uint64_t mark;
  Memory *owner;
  Kind kind;
  int64_t bytes, capacity;
  Block *previous, *next;

  void *memory() { return this + 1; }
};

/// Rounded up to whole lines; never 0, so that each block has its own address.
static int64_t roundUp(int64_t bytes) {
  return std::max<int64_t>((bytes + kAlignment - 1) / kAlignment, 1) *
         kAlignment;
}

Memory::~Memory() {
  releaseProgram();
  releaseGlobals();
  giveUpKept(0);
}

Memory::Block *Memory::takeKept(int64_t capacity) {
  auto it = kept.find(capacity);
  if (it == kept.end() || !it->second)
    return nullptr;
  Block *block = it->second;
  it->second = block->next;
  keptBytes -= capacity;
  return block;
}

void Memory::giveUpKept(int64_t mostBytes) {
  for (auto &[capacity, block] : kept) {
    while (block && keptBytes > mostBytes) {
      std::free(std::exchange(block, block->next));
      keptBytes -= capacity;
    }
  }
}

void Memory::count(Kind kind, int64_t bytes) {
  inUse[static_cast<int64_t>(kind)] += bytes;
  peakProgram = std::max(peakProgram, programBytes());
  peak = std::max(peak, bytesInUse());
  highest = std::max(highest, peak);
}

void *Memory::allocate(int64_t bytes, Kind kind) {
  // More than a process can address; sums of such sizes could overflow.
  constexpr int64_t kTooMuch = int64_t(1) << 56;
  if (bytes < 0 || bytes >= kTooMuch)
    return nullptr;
  int64_t capacity = roundUp(bytes);
  Block *block = takeKept(capacity);
  if (!block) {
    giveUpKept(std::max<int64_t>(highest - bytesInUse() - bytes, 0));
    void *raw = std::aligned_alloc(kAlignment, sizeof(Block) + capacity);
    if (!raw)
      return nullptr;
    block = new (raw) Block;
  }
  *block = {Block::kLive, this, kind, bytes, capacity, nullptr, nullptr};
  if (kind == Kind::Program) {
    block->next = programBlocks;
    if (programBlocks)
      programBlocks->previous = block;
    programBlocks = block;
  }
  count(kind, bytes);
  return block->memory();
}

bool Memory::release(void *memory) {
  Block *block = static_cast<Block *>(memory) - 1;
  if (block->mark != Block::kLive || block->owner != this)
    return false;
  if (block->kind == Kind::Program) {
    (block->previous ? block->previous->next : programBlocks) = block->next;
    if (block->next)
      block->next->previous = block->previous;
  }
  count(block->kind, -block->bytes);
  block->mark = 0;
  Block *&head = kept[block->capacity];
  block->next = head;
  head = block;
  keptBytes += block->capacity;
  return true;
}

void Memory::releaseProgram() {
  while (programBlocks)
    release(programBlocks->memory());
}

const Memory::Global *Memory::findGlobal(const std::string &name) const {
  auto it = globals.find(name);
  return it == globals.end() ? nullptr : &it->second;
}

void *Memory::makeGlobal(const std::string &name, int64_t bytes) {
  void *memory = allocate(bytes, Kind::Global);
  if (memory)
    globals[name] = {memory, bytes};
  return memory;
}

void Memory::releaseGlobals() {
  for (auto &[name, global] : globals)
    release(global.memory);
  globals.clear();
}

void Memory::resetPeaks() {
  peakProgram = programBytes();
  peak = bytesInUse();
}

TofuMemoryStats Memory::stats() const {
  TofuMemoryStats stats{};
  stats.inputBytes = bytesOf(Kind::Input);
  stats.programBytes = programBytes();
  stats.peakProgramBytes = peakProgram;
  stats.peakBytes = peak;
  return stats;
}

Scratch::~Scratch() {
  for (void *buffer : buffers)
    std::free(buffer);
}

void *Scratch::get(int index, int64_t bytes) {
  if (bytes <= sizes[index])
    return buffers[index];
  std::free(buffers[index]);
  buffers[index] = std::aligned_alloc(kAlignment, roundUp(bytes));
  sizes[index] = buffers[index] ? roundUp(bytes) : 0;
  return buffers[index];
}

int64_t Scratch::bytes() const {
  int64_t sum = 0;
  for (int64_t size : sizes)
    sum += size;
  return sum;
}
