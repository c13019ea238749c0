//===- Messages.cpp - Collectives without shared memory -------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Messages.h"

#include <algorithm>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

//===----------------------------------------------------------------------===//
// Who sends what to whom
//===----------------------------------------------------------------------===//

static bool isIn(const std::vector<int64_t> &devices, int64_t device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

/// What `sender` gives a device with that route, in the first step.
static std::vector<Box> listGathered(const Route &route, int64_t sender) {
  std::vector<Box> boxes;
  for (const Transfer &transfer : route.transfers)
    if (transfer.device == sender)
      boxes.push_back(transfer.box);
  for (const Share &share : route.shares)
    if (isIn(share.sources, sender))
      boxes.push_back(share.box);
  return boxes;
}

/// What a device with that route gives `receiver`, in the second step.
static std::vector<Box> listSpread(const Route &route, int64_t receiver) {
  std::vector<Box> boxes;
  for (const Share &share : route.shares)
    if (isIn(share.receivers, receiver))
      boxes.push_back(share.box);
  return boxes;
}

static void addMessage(std::vector<Message> &messages, int64_t peer,
                       std::vector<Box> boxes) {
  int64_t elements = 0;
  for (const Box &box : boxes)
    elements += volume(box);
  if (elements)
    messages.push_back({peer, elements, std::move(boxes)});
}

Messages host::findMessages(const Table &table, int64_t self) {
  // The device's own was found before, from the same table: there is one.
  std::string error;
  Route mine;
  findRoute(table, self, mine, error);
  Messages messages;
  for (int64_t peer = 0; peer < table.devices; ++peer) {
    if (peer == self)
      continue;
    Route route;
    findRoute(table, peer, route, error);
    addMessage(messages.gather.sends, peer, listGathered(route, self));
    addMessage(messages.gather.receives, peer, listGathered(mine, peer));
    addMessage(messages.spread.sends, peer, listSpread(mine, peer));
    addMessage(messages.spread.receives, peer, listSpread(route, self));
  }
  return messages;
}

//===----------------------------------------------------------------------===//
// Moving data
//===----------------------------------------------------------------------===//

namespace {

/// Memory of a transport, for as long as this lives.
class Staging {
public:
  explicit Staging(Transport &transport) : transport(transport) {}
  ~Staging() {
    if (memory)
      transport.release(memory);
  }
  Staging(const Staging &) = delete;

  /// None is needed for nothing.
  bool allocate(int64_t bytes) {
    memory = bytes ? transport.allocate(bytes) : nullptr;
    return memory || !bytes;
  }
  char *get() const { return memory; }

private:
  Transport &transport;
  char *memory = nullptr;
};

/// One collective on one device.
class Exchange {
public:
  Exchange(TofuContext &context, const Collective &collective,
           Transport &transport)
      : context(context), table(collective.table), route(collective.route),
        transport(transport), bytes(elementBytes(table.type)) {}

  bool run(const Messages &messages);

private:
  bool gather(const MessageStep &step, char *shares);
  bool spread(const MessageStep &step, char *shares);
  std::vector<ViewCopy> listOwn() const;
  bool unpack(std::vector<ViewCopy> own, const MessageStep &step,
              char *incoming);
  bool combineShares(const MessageStep &step, char *incoming, char *shares);
  bool combineShare(size_t number, const View &into,
                    const std::vector<std::vector<char *>> &parts);
  std::vector<std::vector<char *>> findParts(const MessageStep &step,
                                             char *incoming) const;
  template <typename Visit>
  void forEachBox(const std::vector<Message> &messages, char *memory,
                  Visit visit) const;

  View source(const Box &box) const {
    return context.published.src.part(table.from[context.device], box, bytes);
  }
  View destination(const Box &box) const {
    return context.published.dst.part(table.to[context.device], box, bytes);
  }

  TofuContext &context;
  const Table &table;
  const Route &route;
  Transport &transport;
  int64_t bytes;
};

} // namespace

static int64_t countElements(const std::vector<Message> &messages) {
  int64_t elements = 0;
  for (const Message &message : messages)
    elements += message.elements;
  return elements;
}

/// Calls `visit` with each box of the messages and its elements in `memory`.
template <typename Visit>
void Exchange::forEachBox(const std::vector<Message> &messages, char *memory,
                          Visit visit) const {
  for (const Message &message : messages)
    for (const Box &box : message.boxes) {
      visit(box, View::ofBox(memory, box));
      memory += volume(box) * bytes;
    }
}

/// What the device has from itself.
std::vector<ViewCopy> Exchange::listOwn() const {
  std::vector<ViewCopy> copies;
  for (const Transfer &transfer : route.transfers) {
    if (transfer.device != context.device)
      continue;
    View from = source(transfer.box), to = destination(transfer.box);
    if (from.data != to.data)
      copies.push_back({to, from});
  }
  return copies;
}

/// What the messages have brought, and what the device has itself. Messages
/// have transfers before shares; a collective has one or the other.
bool Exchange::unpack(std::vector<ViewCopy> own, const MessageStep &step,
                      char *incoming) {
  forEachBox(step.receives, incoming, [&](const Box &box, const View &from) {
    own.push_back({destination(box), from});
  });
  return transport.copy(own);
}

/// Where the part of each share is that comes from each source; null for what
/// is the device's own.
std::vector<std::vector<char *>> Exchange::findParts(const MessageStep &step,
                                                     char *incoming) const {
  std::vector<std::vector<char *>> parts;
  for (const Share &share : route.shares)
    parts.emplace_back(share.sources.size());
  for (const Message &message : step.receives)
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::vector<int64_t> &sources = route.shares[i].sources;
      auto it = std::find(sources.begin(), sources.end(), message.peer);
      if (it == sources.end())
        continue;
      parts[i][it - sources.begin()] = incoming;
      incoming += volume(route.shares[i].box) * bytes;
    }
  return parts;
}

bool Exchange::combineShare(size_t number, const View &into,
                            const std::vector<std::vector<char *>> &parts) {
  const Share &share = route.shares[number];
  for (size_t i = 0; i < share.sources.size(); ++i) {
    char *part = parts[number][i];
    View from = part ? View::ofBox(part, share.box) : source(share.box);
    if (!(i ? transport.combine(into, from)
            : transport.copy({ViewCopy{into, from}})))
      return false;
  }
  return true;
}

bool Exchange::combineShares(const MessageStep &step, char *incoming,
                             char *shares) {
  std::vector<std::vector<char *>> parts = findParts(step, incoming);
  for (size_t i = 0; i < route.shares.size(); ++i) {
    const Box &box = route.shares[i].box;
    if (!combineShare(i, View::ofBox(shares, box), parts))
      return false;
    shares += volume(box) * bytes;
  }
  return true;
}

/// Packs before it writes to the destination, which may be the source.
bool Exchange::gather(const MessageStep &step, char *shares) {
  Staging outgoing(transport), incoming(transport);
  if (!outgoing.allocate(countElements(step.sends) * bytes) ||
      !incoming.allocate(countElements(step.receives) * bytes))
    return false;
  std::vector<ViewCopy> packing;
  forEachBox(step.sends, outgoing.get(), [&](const Box &box, const View &to) {
    packing.push_back({to, source(box)});
  });
  if (!transport.copy(packing) ||
      !transport.exchange(step, outgoing.get(), incoming.get()))
    return false;
  return table.combines() ? combineShares(step, incoming.get(), shares)
                          : unpack(listOwn(), step, incoming.get());
}

bool Exchange::spread(const MessageStep &step, char *shares) {
  Staging outgoing(transport), incoming(transport);
  if (!outgoing.allocate(countElements(step.sends) * bytes) ||
      !incoming.allocate(countElements(step.receives) * bytes))
    return false;
  std::vector<ViewCopy> packing, own;
  char *packed = outgoing.get();
  for (const Message &message : step.sends) {
    char *combined = shares;
    for (const Share &share : route.shares) {
      int64_t size = volume(share.box) * bytes;
      if (isIn(share.receivers, message.peer)) {
        packing.push_back(
            {View::ofBox(packed, share.box), View::ofBox(combined, share.box)});
        packed += size;
      }
      combined += size;
    }
  }
  if (!transport.copy(packing) ||
      !transport.exchange(step, outgoing.get(), incoming.get()))
    return false;
  for (const Share &share : route.shares) {
    if (isIn(share.receivers, context.device))
      own.push_back({destination(share.box), View::ofBox(shares, share.box)});
    shares += volume(share.box) * bytes;
  }
  return unpack(std::move(own), step, incoming.get());
}

bool Exchange::run(const Messages &messages) {
  int64_t combined = 0;
  for (const Share &share : route.shares)
    combined += volume(share.box);
  Staging shares(transport);
  return shares.allocate(combined * bytes) &&
         gather(messages.gather, shares.get()) &&
         (!table.combines() || spread(messages.spread, shares.get()));
}

bool host::moveByMessages(TofuContext &context, const Collective &collective,
                          Transport &transport) {
  auto [it, isNew] = context.messages.try_emplace(&collective);
  if (isNew)
    it->second = std::make_shared<Messages>(
        findMessages(collective.table, context.device));
  return Exchange(context, collective, transport).run(*it->second);
}
