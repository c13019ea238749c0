//===- OneDnnContractions.cpp - Contractions on oneDNN alone --------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: onednn-contractions ROUNDS B,M,N,K …
//
// Computes each batched product in f32 on one thread, one after the other, as a
// program that is nothing but library calls would; prints the seconds of each
// round as JSON. OMP_NUM_THREADS must be 1.
//
//===----------------------------------------------------------------------===//

#include "dnnl.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {
struct Product {
  dnnl::matmul primitive;
  dnnl::memory a, b, c;
};
} // namespace

static dnnl::memory makeMemory(const dnnl::engine &engine,
                               const dnnl::memory::dims &dims) {
  dnnl::memory::desc desc(dims, dnnl::memory::data_type::f32,
                          dnnl::memory::format_tag::abc);
  dnnl::memory memory(desc, engine);
  auto *data = static_cast<float *>(memory.get_data_handle());
  for (size_t i = 0, e = desc.get_size() / sizeof(float); i < e; ++i)
    data[i] = static_cast<float>(i % 13) - 6.0f;
  return memory;
}

static Product makeProduct(const dnnl::engine &engine, int64_t b, int64_t m,
                           int64_t n, int64_t k) {
  dnnl::memory lhs = makeMemory(engine, {b, m, k});
  dnnl::memory rhs = makeMemory(engine, {b, k, n});
  dnnl::memory out = makeMemory(engine, {b, m, n});
  dnnl::matmul::desc desc(lhs.get_desc(), rhs.get_desc(), out.get_desc());
  dnnl::matmul::primitive_desc primitive(desc, engine);
  return {dnnl::matmul(primitive), lhs, rhs, out};
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 0;
  if (argc < 3 || rounds < 1) {
    std::fprintf(stderr, "usage: onednn-contractions ROUNDS B,M,N,K ...\n");
    return 2;
  }
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  std::vector<Product> products;
  for (int i = 2; i < argc; ++i) {
    long b, m, n, k;
    if (std::sscanf(argv[i], "%ld,%ld,%ld,%ld", &b, &m, &n, &k) != 4) {
      std::fprintf(stderr, "B,M,N,K, not %s\n", argv[i]);
      return 2;
    }
    products.push_back(makeProduct(engine, b, m, n, k));
  }
  std::printf("{\"seconds\": [");
  for (int round = -1; round < rounds; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (Product &product : products)
      product.primitive.execute(stream, {{DNNL_ARG_SRC, product.a},
                                         {DNNL_ARG_WEIGHTS, product.b},
                                         {DNNL_ARG_DST, product.c}});
    stream.wait();
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    // The first round warms up.
    if (round >= 0)
      std::printf("%s%.6f", round ? ", " : "", elapsed.count());
  }
  std::printf("]}\n");
  return 0;
}
