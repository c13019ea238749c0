//===- FakeCublasLt.cpp - Matrix products by definition -------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fake.h"
#include "Tofu/Runtime/Half.h"

#include <cmath>
#include <cstring>
#include <cublasLt.h>

using namespace mlir::tofu;

namespace {

struct Layout {
  cudaDataType_t type;
  int64_t rows, columns, lead, stride = 0;
  int32_t batch = 1;
};

struct Operation {
  bool isDouble;
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void *bias = nullptr;
  cudaDataType_t biasType = static_cast<cudaDataType_t>(-1);

  bool hasBias() const { return epilogue & CUBLASLT_EPILOGUE_BIAS; }
};

} // namespace

static double load(cudaDataType_t type, const void *memory, int64_t at) {
  switch (type) {
  case CUDA_R_32F:
    return static_cast<const float *>(memory)[at];
  case CUDA_R_16F:
    return floatFromHalf(static_cast<const uint16_t *>(memory)[at]);
  case CUDA_R_16BF:
    return floatFromBFloat(static_cast<const uint16_t *>(memory)[at]);
  default:
    return static_cast<const double *>(memory)[at];
  }
}

static void store(cudaDataType_t type, void *memory, int64_t at, double value) {
  switch (type) {
  case CUDA_R_32F:
    static_cast<float *>(memory)[at] = static_cast<float>(value);
    break;
  case CUDA_R_16F:
    static_cast<uint16_t *>(memory)[at] =
        halfFromFloat(static_cast<float>(value));
    break;
  case CUDA_R_16BF:
    static_cast<uint16_t *>(memory)[at] =
        bfloatFromFloat(static_cast<float>(value));
    break;
  default:
    static_cast<double *>(memory)[at] = value;
    break;
  }
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  static char library;
  *handle = reinterpret_cast<cublasLtHandle_t>(&library);
  return test::onCreateBlas.exchange(CUBLAS_STATUS_SUCCESS);
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) {
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion() { return test::cublasLtVersion; }
const char *cublasLtGetStatusString(cublasStatus_t) { return test::errorText; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *description,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  bool isDouble = compute == CUBLAS_COMPUTE_64F;
  if (isDouble != (scale == CUDA_R_64F))
    return CUBLAS_STATUS_INVALID_VALUE;
  *description =
      reinterpret_cast<cublasLtMatmulDesc_t>(new Operation{isDouble});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete reinterpret_cast<Operation *>(description);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                               cublasLtMatmulDescAttributes_t attribute,
                               const void *value, size_t bytes) {
  auto &operation = *reinterpret_cast<Operation *>(description);
  auto set = [&](auto &field) {
    if (bytes != sizeof(field))
      return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&field, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return set(operation.a);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return set(operation.b);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return set(operation.epilogue);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return set(operation.bias);
  case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
    return set(operation.biasType);
  default:
    return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                          cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t lead) {
  if (lead < static_cast<int64_t>(rows))
    return CUBLAS_STATUS_INVALID_VALUE;
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{
      type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), lead});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<Layout *>(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 const void *value, size_t bytes) {
  auto &matrix = *reinterpret_cast<Layout *>(layout);
  bool isBatch = attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
  if (bytes != (isBatch ? sizeof(matrix.batch) : sizeof(matrix.stride)))
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(isBatch ? static_cast<void *>(&matrix.batch) : &matrix.stride,
              value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  static char one;
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(&one);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                     cublasLtMatmulPreferenceAttributes_t,
                                     const void *, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t[],
    int *found) {
  auto &operation = *reinterpret_cast<Operation *>(description);
  bool hasEpilogue = operation.epilogue != CUBLASLT_EPILOGUE_DEFAULT;
  *found = !hasEpilogue || !test::lacksEpilogues;
  return CUBLAS_STATUS_SUCCESS;
}

/// An element of row `row` after the epilogue.
static double finish(const Operation &operation, int64_t row, double value) {
  if (operation.hasBias())
    value += load(operation.biasType, operation.bias, row);
  if (operation.epilogue & CUBLASLT_EPILOGUE_RELU)
    return std::fmax(value, 0);
  if (operation.epilogue & CUBLASLT_EPILOGUE_GELU)
    return value / 2 *
           (1 + std::tanh(std::sqrt(2 / std::acos(-1)) *
                          (value + 0.044715 * std::pow(value, 3))));
  return value;
}

static void multiply(Operation operation, double scale, const void *a,
                     const Layout &ofA, const void *b, const Layout &ofB,
                     const void *addend, const Layout &ofAddend, void *c,
                     const Layout &ofC) {
  auto at = [](const Layout &matrix, bool isTransposed, int64_t batch,
               int64_t row, int64_t column) {
    if (isTransposed)
      std::swap(row, column);
    return batch * matrix.stride + column * matrix.lead + row;
  };
  bool turnsA = operation.a == CUBLAS_OP_T, turnsB = operation.b == CUBLAS_OP_T;
  int64_t inner = turnsA ? ofA.rows : ofA.columns;
  for (int64_t batch = 0; batch < ofC.batch; ++batch)
    for (int64_t row = 0; row < ofC.rows; ++row)
      for (int64_t column = 0; column < ofC.columns; ++column) {
        int64_t target = at(ofC, false, batch, row, column);
        double sum = scale
                         ? scale * load(ofAddend.type, addend,
                                        at(ofAddend, false, batch, row, column))
                         : 0;
        for (int64_t k = 0; k < inner; ++k)
          sum += load(ofA.type, a, at(ofA, turnsA, batch, row, k)) *
                 load(ofB.type, b, at(ofB, turnsB, batch, k, column));
        store(ofC.type, c, target, finish(operation, row, sum));
      }
  ++test::numProducts;
  if (operation.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
    ++test::numProductsWithEpilogue;
}

cublasStatus_t
cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void *,
               const void *a, cublasLtMatrixLayout_t aLayout, const void *b,
               cublasLtMatrixLayout_t bLayout, const void *beta,
               const void *addend, cublasLtMatrixLayout_t addendLayout, void *c,
               cublasLtMatrixLayout_t cLayout, const cublasLtMatmulAlgo_t *,
               void *, size_t, cudaStream_t stream) {
  Operation operation = *reinterpret_cast<Operation *>(description);
  Layout ofA = *reinterpret_cast<Layout *>(aLayout),
         ofB = *reinterpret_cast<Layout *>(bLayout),
         ofAddend = *reinterpret_cast<Layout *>(addendLayout),
         ofC = *reinterpret_cast<Layout *>(cLayout);
  bool turnsA = operation.a == CUBLAS_OP_T, turnsB = operation.b == CUBLAS_OP_T;
  int64_t inner = turnsA ? ofA.rows : ofA.columns;
  if ((turnsA ? ofA.columns : ofA.rows) != ofC.rows ||
      (turnsB ? ofB.rows : ofB.columns) != ofC.columns ||
      (turnsB ? ofB.columns : ofB.rows) != inner || ofA.batch != ofC.batch ||
      ofB.batch != ofC.batch || ofA.type != ofB.type ||
      ofAddend.rows != ofC.rows || ofAddend.columns != ofC.columns ||
      ofAddend.batch != ofC.batch || ofAddend.type != ofC.type ||
      ofAddend.lead < ofC.rows ||
      (operation.hasBias() &&
       (!operation.bias || operation.biasType != ofC.type)))
    return CUBLAS_STATUS_INVALID_VALUE;
  double scale = operation.isDouble ? *static_cast<const double *>(beta)
                                    : *static_cast<const float *>(beta);
  test::enqueue(stream, [=] {
    multiply(operation, scale, a, ofA, b, ofB, addend, ofAddend, c, ofC);
  });
  return CUBLAS_STATUS_SUCCESS;
}
