//===- Collective.cpp - Collectives through shared memory -----------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All devices meet, having published where their source and destination are;
// data then goes from buffer to buffer, and they meet again before anyone may
// touch its buffers. Moves are pulled by the receiver. Of partial results each
// device combines its shares, block by block in cache, and pushes the combined
// block to all who need it.
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "World.h"

#include <algorithm>

using namespace mlir::tofu;
using namespace mlir::tofu::host;

//===----------------------------------------------------------------------===//
// Finding the collective
//===----------------------------------------------------------------------===//

static uint64_t hashWords(const int64_t *words, int64_t size) {
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (int64_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<uint64_t>(words[i])) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  }
  return hash;
}

Collective *host::findCollective(TofuContext &context, const int64_t *words,
                                 const char *location) {
  // The fixed part must be sound before the length can be told from it.
  Table table;
  std::string error;
  int64_t devices = context.world->numDevices();
  if (!table.readHeader(words, devices, error)) {
    context.world->fail(context.device, location, error);
    return nullptr;
  }
  int64_t size = Table::numWords(words);
  uint64_t hash = hashWords(words, size);
  auto [it, end] = context.byHash.equal_range(hash);
  for (; it != end; ++it)
    if (it->second->location == location &&
        std::equal(words, words + size, it->second->words.begin(),
                   it->second->words.end()))
      return it->second;

  auto collective = std::make_unique<Collective>();
  collective->words.assign(words, words + size);
  collective->location = location;
  collective->table = std::move(table);
  if (!collective->table.readDevices(words, error) ||
      !findRoute(collective->table, context.device, collective->route, error)) {
    context.world->fail(context.device, location, error);
    return nullptr;
  }
  collective->stats.kind =
      static_cast<TofuCollectiveKind>(collective->table.kind);
  collective->stats.location = collective->location.c_str();
  context.byHash.emplace(hash, collective.get());
  context.collectives.push_back(std::move(collective));
  return context.collectives.back().get();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool checkView(TofuContext &context, const Collective &collective,
                      const char *what, const View &view, const Box &box) {
  bool fits = view.rank == static_cast<int64_t>(box.size());
  for (int64_t dim = 0; fits && dim < view.rank; ++dim)
    fits = view.sizes[dim] == box[dim].size();
  if (fits)
    return true;
  auto describe = [](int64_t rank, auto size) {
    std::string text = "[";
    for (int64_t dim = 0; dim < rank; ++dim)
      text += (dim ? ", " : "") + std::to_string(size(dim));
    return text + "]";
  };
  context.world->fail(
      context.device, collective.location.c_str(),
      std::string(what) + " of " + kindName(collective.table.kind) +
          " has sizes " +
          describe(view.rank, [&](int64_t dim) { return view.sizes[dim]; }) +
          ", the device's box has " +
          describe(box.size(), [&](int64_t dim) { return box[dim].size(); }));
  return false;
}

static std::string describe(const Published &published) {
  const Collective &collective = *published.collective;
  return std::string(kindName(collective.table.kind)) + " number " +
         std::to_string(published.sequence) + " at " + collective.location;
}

/// Once all have published: is it the same collective everywhere?
static bool checkPeers(TofuContext &context) {
  const Published &mine = context.published;
  for (auto &peer : context.world->contexts) {
    const Published &theirs = peer->published;
    if (theirs.sequence == mine.sequence &&
        theirs.collective->location == mine.collective->location &&
        theirs.collective->words == mine.collective->words)
      continue;
    context.world->fail(context.device, mine.collective->location.c_str(),
                        "device " + std::to_string(peer->device) + " is at " +
                            describe(theirs) + ", this one at " +
                            describe(mine));
    return false;
  }
  return true;
}

/// "2, 3" for the devices that `test` picks.
template <typename Test>
static std::string listDevices(const TofuWorld &world, Test test) {
  std::string list;
  for (int64_t device = 0; device < world.numDevices(); ++device)
    if (test(device))
      list += (list.empty() ? "" : ", ") + std::to_string(device);
  return list;
}

/// Waits for all devices; on failure records why and returns false.
static bool meetPeers(TofuContext &context, const Collective &collective) {
  TofuWorld &world = *context.world;
  const Rendezvous &rendezvous = world.rendezvous;
  std::string kind = kindName(collective.table.kind);
  const char *location = collective.location.c_str();
  switch (world.rendezvous.meet(context.number, world.timeout(),
                                world.abortFlag())) {
  case Rendezvous::Outcome::Met:
    return true;
  case Rendezvous::Outcome::Aborted:
    return false;
  case Rendezvous::Outcome::Deserted:
    world.fail(context.device, location,
               kind + " waits for devices that have ended the program: " +
                   listDevices(world, [&](int64_t device) {
                     return rendezvous.hasRetired(device);
                   }));
    return false;
  case Rendezvous::Outcome::TimedOut:
    world.fail(context.device, location,
               kind + " timed out after " + formatSeconds(world.timeout()) +
                   " waiting for devices " +
                   listDevices(world, [&](int64_t device) {
                     return !rendezvous.hasCome(device);
                   }));
    return false;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Moving data
//===----------------------------------------------------------------------===//

static void pull(TofuContext &context, const Collective &collective) {
  const Table &table = collective.table;
  int64_t bytes = elementBytes(table.type);
  for (const Transfer &transfer : collective.route.transfers) {
    const Published &peer = context.world->contexts[transfer.device]->published;
    View from = peer.src.part(table.from[transfer.device], transfer.box, bytes);
    View to = context.published.dst.part(table.to[context.device], transfer.box,
                                         bytes);
    if (from.data != to.data)
      copy(to, from, bytes);
  }
}

/// Calls `visit` with boxes of at most `most` elements that make up `box`, from
/// dim `dim` on; the dims before are small enough already.
template <typename Visit>
static void forEachBlock(Box &box, size_t dim, int64_t most, Visit visit) {
  if (volume(box) <= most || dim == box.size())
    return visit(static_cast<const Box &>(box));
  Interval whole = box[dim];
  box[dim] = {0, 1};
  int64_t step = std::max<int64_t>(most / volume(box), 1);
  for (int64_t lo = whole.lo; lo < whole.hi; lo += step) {
    box[dim] = {lo, std::min(lo + step, whole.hi)};
    forEachBlock(box, dim + 1, most, visit);
  }
  box[dim] = whole;
}

/// Combines one block of a share from its sources, in their order.
static void combineBlock(TofuContext &context, const Collective &collective,
                         const Share &share, const Box &block, char *into,
                         char *spare) {
  const Table &table = collective.table;
  int64_t bytes = elementBytes(table.type), size = volume(block);
  Combiner combiner = getCombiner(table.combiner, table.type);
  for (int64_t source : share.sources) {
    const View &src = context.world->contexts[source]->published.src;
    View from = src.part(table.from[source], block, bytes);
    bool isFirst = source == share.sources.front();
    if (isFirst || !from.isContiguous()) {
      char *target = isFirst ? into : spare;
      copy(View::ofBox(target, block), from, bytes);
      from.data = target;
    }
    if (!isFirst)
      combiner.combine(into, from.data, size);
  }
}

static void combineAndPush(TofuContext &context, const Collective &collective) {
  constexpr int64_t kBlockBytes = 16 << 10;
  alignas(64) char combined[kBlockBytes], spare[kBlockBytes];
  const Table &table = collective.table;
  int64_t bytes = elementBytes(table.type);
  for (const Share &share : collective.route.shares) {
    Box rest = share.box;
    forEachBlock(rest, 0, kBlockBytes / bytes, [&](const Box &block) {
      combineBlock(context, collective, share, block, combined, spare);
      View from = View::ofBox(combined, block);
      for (int64_t receiver : share.receivers) {
        const View &dst = context.world->contexts[receiver]->published.dst;
        copy(dst.part(table.to[receiver], block, bytes), from, bytes);
      }
    });
  }
}

/// Fills what is left to other devices with the neutral element.
static void fillNeutral(TofuContext &context, const Collective &collective) {
  const Table &table = collective.table;
  int64_t bytes = elementBytes(table.type);
  for (const Box &box : collective.route.neutral) {
    // Of any type; that of a complex<f64> is the largest.
    alignas(16) char element[16];
    getCombiner(table.combiner, table.type).writeNeutral(element);
    View from = View::ofBox(element, box);
    std::fill_n(from.strides, from.rank, 0);
    copy(context.published.dst.part(table.to[context.device], box, bytes), from,
         bytes);
  }
}

//===----------------------------------------------------------------------===//
// The collective
//===----------------------------------------------------------------------===//

/// A thread has moved its data when it meets the others.
static bool doNothing(TofuContext &) { return true; }

const Mover &host::getHostMover() {
  static const Mover mover = {/*meets=*/true, doNothing,
                              doNothing,      pull,
                              combineAndPush, fillNeutral};
  return mover;
}

static bool exchange(TofuContext &context, Collective &collective,
                     const Mover &mover) {
  double start = now();
  if (!mover.begin(context) || (mover.meets && !meetPeers(context, collective)))
    return false;
  collective.stats.waitSeconds += now() - start;
  if (mover.meets && !checkPeers(context))
    return false;
  mover.pull(context, collective);
  mover.combineAndPush(context, collective);
  if (mover.meets)
    context.world->rendezvous.meetAgain();
  return mover.end(context);
}

bool host::runCollective(TofuContext &context, const int64_t *words,
                         const char *location, const View &src, const View &dst,
                         const Mover &mover) {
  double start = now();
  Collective *collective = findCollective(context, words, location);
  if (!collective)
    return false;
  const Table &table = collective->table;
  if (!checkView(context, *collective, "source", src,
                 table.from[context.device]) ||
      !checkView(context, *collective, "destination", dst,
                 table.to[context.device]))
    return false;

  context.published = {collective, ++context.sequence, src, dst};
  if (!collective->route.exchanges)
    mover.pull(context, *collective);
  else if (!exchange(context, *collective, mover))
    return false;
  mover.fillNeutral(context, *collective);

  int64_t bytes = elementBytes(table.type);
  TofuCollectiveStats &stats = collective->stats;
  ++stats.calls;
  stats.receivedBytes += collective->route.received * bytes;
  stats.dataBytes += std::max(src.volume(), dst.volume()) * bytes;
  stats.seconds += now() - start;
  return true;
}
