//===- Device.cpp - A device with streams on the host ---------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include "World.h"

#include <algorithm>

using namespace mlir::tofu;
using namespace mlir::tofu::recording;

static const char *streamName(int stream) {
  return stream == TOFU_COMPUTE ? "compute" : "communication";
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

TofuStream *Device::getHandle(int64_t kind) {
  bool isKnown = kind >= 0 && kind < TOFU_NUM_STREAMS;
  return reinterpret_cast<TofuStream *>(&streams[isKnown ? kind : 0]);
}

int Device::getStream(TofuStream *handle) const {
  for (int stream = 0; stream < TOFU_NUM_STREAMS; ++stream)
    if (handle == reinterpret_cast<const TofuStream *>(&streams[stream]))
      return stream;
  return TOFU_COMPUTE;
}

void Device::push(int stream, Task task) {
  Stream &queue = streams[stream];
  queue.tasks.push_back(std::move(task));
  queue.saw[stream] = ++queue.queued;
}

bool Device::enqueue(int stream, const Actor &actor,
                     const std::vector<Use> &uses, Task task) {
  for (const Use &use : uses)
    if (!check(stream, actor, use))
      return false;
  if (isInGroup())
    group.tasks.push_back(std::move(task));
  else
    push(stream, std::move(task));
  return true;
}

/// Runs the tasks up to a position. Holds nothing that needs a destructor, as a
/// division by zero leaves from within a task.
bool Device::drain(int stream, int64_t position) {
  Stream &queue = streams[stream];
  while (queue.done < position) {
    if (!queue.tasks.front()())
      return false;
    queue.tasks.pop_front();
    ++queue.done;
  }
  return true;
}

void Device::record(int stream, int64_t event) {
  events[event] = {streams[stream].saw};
}

void Device::wait(int stream, int64_t event) {
  auto it = events.find(event);
  if (it == events.end())
    return;
  Clock saw = it->second.saw;
  push(stream, [this, stream, saw] {
    for (int other = 0; other < TOFU_NUM_STREAMS; ++other)
      if (other != stream && !drain(other, saw[other]))
        return false;
    return true;
  });
  for (int other = 0; other < TOFU_NUM_STREAMS; ++other)
    streams[stream].saw[other] =
        std::max(streams[stream].saw[other], saw[other]);
}

bool Device::synchronize(int stream) {
  Clock saw = streams[stream].saw;
  if (!drain(stream, streams[stream].queued))
    return false;
  // What the host does from now on comes after that.
  for (Stream &other : streams)
    for (int i = 0; i < TOFU_NUM_STREAMS; ++i)
      other.saw[i] = std::max(other.saw[i], saw[i]);
  return true;
}

bool Device::synchronizeAll() {
  if (isInGroup())
    return fail({"the device", nullptr}, "synchronizes within a group");
  for (int stream = 0; stream < TOFU_NUM_STREAMS; ++stream)
    if (!synchronize(stream))
      return false;
  return true;
}

bool Device::beginGroup(int stream) {
  if (isInGroup())
    return fail({"a group", nullptr}, "begins within another one");
  group.stream = stream;
  return true;
}

bool Device::endGroup() {
  if (!isInGroup())
    return fail({"a group", nullptr}, "ends that hasn't begun");
  push(group.stream, [tasks = std::move(group.tasks)] {
    return std::all_of(tasks.rbegin(), tasks.rend(),
                       [](const Task &task) { return task(); });
  });
  group = {};
  return true;
}

void Device::restart() {
  for (Stream &queue : streams)
    queue = {};
  events.clear();
  group = {};
  entries.clear();
  // Blocks stay, but what is on the streams begins anew.
  for (auto &entry : blocks) {
    entry.second.reads = {};
    entry.second.writes = {};
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

bool Device::fail(const Actor &actor, const std::string &message) {
  context->world->fail(context->device, actor.location,
                       actor.name + " " + message);
  return false;
}

/// Counts a block that comes or goes.
void Device::count(const Block &block, int64_t sign) {
  if (block.isFreed ||
      (block.kind != Kind::Program && block.kind != Kind::Global))
    return;
  programBytes += sign * block.bytes;
  peakBytes = std::max(peakBytes, programBytes);
}

void Device::addBlock(const void *memory, int64_t bytes, Kind kind) {
  auto begin = reinterpret_cast<uintptr_t>(memory);
  uintptr_t end = begin + std::max<int64_t>(bytes, 1);
  // Blocks that were there before.
  auto it = blocks.lower_bound(begin);
  if (it != blocks.begin()) {
    auto before = std::prev(it);
    if (before->first + before->second.bytes > begin)
      it = before;
  }
  while (it != blocks.end() && it->first < end) {
    count(it->second, -1);
    it = blocks.erase(it);
  }
  Block block;
  block.bytes = bytes;
  block.kind = kind;
  count(block, 1);
  blocks.emplace(begin, std::move(block));
}

void Device::removeBlock(const void *memory) {
  blocks.erase(reinterpret_cast<uintptr_t>(memory));
}

void Device::removeBlocks(Kind kind) {
  for (auto it = blocks.begin(); it != blocks.end();) {
    auto block = it++;
    if (block->second.kind != kind)
      continue;
    count(block->second, -1);
    blocks.erase(block);
  }
}

Device::Block *Device::findBlock(const void *memory) {
  auto address = reinterpret_cast<uintptr_t>(memory);
  auto it = blocks.upper_bound(address);
  if (it == blocks.begin())
    return nullptr;
  --it;
  bool isInside = address < it->first + std::max<int64_t>(it->second.bytes, 1);
  return isInside ? &it->second : nullptr;
}

int64_t Device::free(const void *memory) {
  auto it = blocks.find(reinterpret_cast<uintptr_t>(memory));
  if (it == blocks.end() || it->second.kind != Kind::Program) {
    fail({"memory", nullptr}, "is freed that is not the device's");
    return -1;
  }
  if (!check(TOFU_COMPUTE, {"a free", nullptr}, {memory, false, true}))
    return -1;
  count(it->second, -1);
  it->second.isFreed = true;
  return it->second.bytes;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// "writes", or for the past "has read".
static std::string describe(bool writes, bool isPast) {
  if (isPast)
    return writes ? "has written" : "has read";
  return writes ? "writes" : "reads";
}

bool Device::checkOrder(int stream, const Actor &actor, const Use &use,
                        Block &block) {
  auto conflicts = [&](const Access &access, int other, bool isWrite) {
    if (!access.position || (!isWrite && !use.writes))
      return true;
    const Actor &before = access.actor;
    std::string what = describe(use.writes, false) + " what " + before.name +
                       (before.location ? std::string(" at ") + before.location
                                        : std::string()) +
                       " " + describe(isWrite, true);
    // Members of a group have the same position.
    if (other == stream)
      return !isInGroup() || access.position <= streams[stream].queued ||
             fail(actor, what + " in the same group");
    return access.position <= streams[stream].saw[other] ||
           fail(actor, what + ", but the " + streamName(stream) +
                           " stream has not waited for the " +
                           streamName(other) + " stream");
  };
  for (int other = 0; other < TOFU_NUM_STREAMS; ++other)
    if (!conflicts(block.writes[other], other, true) ||
        !conflicts(block.reads[other], other, false))
      return false;
  return true;
}

bool Device::check(int stream, const Actor &actor, const Use &use) {
  Block *block = findBlock(use.memory);
  if (!block)
    return fail(actor, describe(use.writes, false) +
                           " memory that is not the device's");
  if (block->isFreed)
    return fail(actor, describe(use.writes, false) + " memory that is freed");
  if (use.writes && block->kind == Kind::Constant)
    return fail(actor, "writes a constant");
  if (!checkOrder(stream, actor, use, *block))
    return false;
  Access access = {streams[stream].queued + 1, actor};
  if (use.reads)
    block->reads[stream] = access;
  if (use.writes)
    block->writes[stream] = access;
  return true;
}

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

/// Text in quotes.
static std::string quote(const std::string &text) {
  static const char digits[] = "0123456789abcdef";
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (result += '\\') += c;
    else if (byte < 0x20)
      ((result += "\\u00") += digits[byte / 16]) += digits[byte % 16];
    else
      result += c;
  }
  return result + "\"";
}

static std::string toJson(const Entry &entry) {
  std::string text = std::string("{\"call\": ") + quote(entry.call);
  if (entry.stream >= 0)
    text += std::string(", \"stream\": ") + quote(streamName(entry.stream));
  if (!entry.name.empty())
    text += ", \"name\": " + quote(entry.name);
  if (entry.location)
    text += ", \"location\": " + quote(entry.location);
  if (entry.bytes >= 0)
    text += ", \"bytes\": " + std::to_string(entry.bytes);
  if (entry.event >= 0)
    text += ", \"event\": " + std::to_string(entry.event);
  if (!entry.shape.empty()) {
    text += ", \"shape\": [";
    for (size_t i = 0; i < entry.shape.size(); ++i)
      text += (i ? ", " : "") + std::to_string(entry.shape[i]);
    text += "]";
  }
  return text + "}";
}

std::string recording::toJson(const std::vector<const Device *> &devices) {
  std::string text = "{\"devices\": [";
  for (size_t i = 0; i < devices.size(); ++i) {
    text += i ? ",\n  [" : "\n  [";
    const std::vector<Entry> &entries = devices[i]->getEntries();
    for (size_t j = 0; j < entries.size(); ++j)
      text += (j ? ",\n   " : "\n   ") + ::toJson(entries[j]);
    text += "]";
  }
  return text + "]}\n";
}
