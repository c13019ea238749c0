//===- DeviceCall.cpp - A device's call of the program --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tofu/Runtime/DeviceCall.h"

#include "Text.h"

#include <cstring>

using namespace mlir::tofu;

/// Words of a memref descriptor: allocated, aligned, offset, sizes, strides.
static int64_t numDescriptorWords(int64_t rank) { return 3 + 2 * rank; }

DeviceCall::DeviceCall(const TofuBackend &backend, TofuWorld *world,
                       TofuContext *context, const Signature &program)
    : backend(backend), world(world), context(context) {
  layOutResults(program);
}

DeviceCall::~DeviceCall() {
  for (void *pointer : memory)
    backend.release(context, pointer);
}

Failure DeviceCall::getFailure() const { return Failure{backend.error(world)}; }

/// The struct of the results, laid out as C does.
void DeviceCall::layOutResults(const Signature &program) {
  int64_t end = 0;
  for (const Port &port : program.results) {
    int64_t bytes = getElementBytes(port.type.type), alignment = bytes;
    if (port.isTensor) {
      bytes = 8 * numDescriptorWords(port.type.shape.size());
      alignment = 8;
    }
    int64_t offset = (end + alignment - 1) / alignment * alignment;
    results.push_back({port, offset});
    end = offset + bytes;
  }
  record.assign((end + 7) / 8, 0);
  returnsScalar = results.size() == 1 && !results.front().port.isTensor;
}

MaybeFailure DeviceCall::addArgument(const Port &port,
                                     const HostTensor &shard) {
  isTensor.push_back(port.isTensor);
  std::vector<int64_t> &words = arguments.emplace_back();
  if (!port.isTensor) {
    words.push_back(0);
    std::memcpy(words.data(), shard.getData(), shard.getNumBytes());
    return std::nullopt;
  }
  void *data = backend.allocate(context, shard.getNumBytes());
  if (!data)
    return Failure{
        join("no memory on the device for ", shard.getNumBytes(), " bytes")};
  memory.push_back(data);
  if (port.isDonated)
    donated.push_back({data, &shard});
  else if (!backend.copyIn(context, data, shard.getData(), shard.getNumBytes()))
    return getFailure();

  int64_t address = reinterpret_cast<intptr_t>(data);
  const std::vector<int64_t> &sizes = shard.getShape();
  words = {address, address, 0};
  words.insert(words.end(), sizes.begin(), sizes.end());
  words.insert(words.end(), sizes.size(), 1);
  for (size_t i = words.size() - 1; i > 3 + sizes.size(); --i)
    words[i - 1] = words[i] * words[i - sizes.size()];
  return std::nullopt;
}

MaybeFailure DeviceCall::prepare() {
  for (const Donated &argument : donated)
    if (!backend.copyIn(context, argument.memory, argument.shard->getData(),
                        argument.shard->getNumBytes()))
      return getFailure();
  if (packed.empty())
    pack();
  return std::nullopt;
}

void DeviceCall::pack() {
  bool storesResults = !results.empty() && !returnsScalar;
  // One address per argument at most; `packed` points into this.
  pointers.reserve(arguments.size() + 2);
  auto packPointer = [&](void *pointer) {
    pointers.push_back(pointer);
    packed.push_back(&pointers.back());
  };
  if (storesResults)
    packPointer(record.data());
  packPointer(context);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (isTensor[i])
      packPointer(arguments[i].data());
    else
      packed.push_back(arguments[i].data());
  }
  if (returnsScalar)
    packed.push_back(record.data());
}

OrFailure<HostTensor> DeviceCall::copyMemref(const int64_t *words,
                                             const Port &port) const {
  size_t rank = port.type.shape.size();
  const int64_t *sizes = words + 3, *strides = sizes + rank;
  OrFailure<HostTensor> tensor =
      HostTensor::create(port.type.type, {sizes, sizes + rank});
  if (!tensor)
    return tensor;
  int64_t bytes = getElementBytes(port.type.type);
  const char *data =
      reinterpret_cast<const char *>(words[1]) + words[2] * bytes;

  // Dims of size 1 may be more than backends take.
  std::vector<int64_t> packedSizes, packedStrides;
  for (size_t dim = 0; dim < rank; ++dim) {
    if (sizes[dim] == 1)
      continue;
    packedSizes.push_back(sizes[dim]);
    packedStrides.push_back(strides[dim]);
  }
  if (!backend.packOut(context, tensor->getData(), data, bytes,
                       packedSizes.size(), packedSizes.data(),
                       packedStrides.data()))
    return getFailure();
  return tensor;
}

OrFailure<HostTensor> DeviceCall::getResult(unsigned i) const {
  const ResultField &field = results[i];
  const char *at = reinterpret_cast<const char *>(record.data()) + field.offset;
  if (field.port.isTensor)
    return copyMemref(reinterpret_cast<const int64_t *>(at), field.port);
  OrFailure<HostTensor> scalar = HostTensor::create(field.port.type.type, {});
  if (scalar) {
    std::memcpy(scalar->getData(), at, scalar->getNumBytes());
    if (field.port.type.type == TOFU_I1)
      scalar->setInteger(0, scalar->getInteger(0));
  }
  return scalar;
}
