//===- Contract.cpp - Contractions of the CUDA backend --------------------===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is a batch of matrix products in memory is one for cuBLASLt, which
// counts columns first: C^T = B^T * A^T. Convolutions are cuDNN's, where there
// is one. A kernel does all else, and what the libraries refuse. An epilogue is
// part of the call of the library that has it, else of that kernel, or one of
// its own.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Convolution.h"
#include "Device.h"
#include "Errors.h"

#include <algorithm>

using namespace mlir::tofu;
using namespace mlir::tofu::cuda;
using host::Contraction;
using host::ContractionLoops;
using host::joinedStride;
using host::numIterations;

namespace {

/// A matrix as the library has it: columns of `rows` elements, `lead` apart.
struct Matrix {
  int64_t rows, columns, lead, batchStride;
  bool isTransposed;
};

/// A batch of products C^T = B^T * A^T.
struct Products {
  Matrix a, b, c;
  int64_t batch;
};

/// An epilogue as the library has it.
struct LibraryEpilogue {
  cublasLtEpilogue_t kind = CUBLASLT_EPILOGUE_DEFAULT;
  /// A bias with an element for each of C, which is added as the library adds
  /// to C, from where it is. Otherwise a bias is part of `kind`.
  std::optional<Matrix> addend = std::nullopt;
};

/// What of the library lives as long as a call.
struct Descriptors {
  /// Nothing depends on them any more.
  ~Descriptors() {
    for (cublasLtMatrixLayout_t layout : layouts)
      if (layout)
        cublasLtMatrixLayoutDestroy(layout);
    if (operation)
      cublasLtMatmulDescDestroy(operation);
    if (preference)
      cublasLtMatmulPreferenceDestroy(preference);
  }

  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  /// Of B, A, C and what is added to.
  cublasLtMatrixLayout_t layouts[4] = {};
};

} // namespace

/// The transpose of the operand with those rows and columns, in memory as it
/// is; nothing if its memory is no matrix.
static std::optional<Matrix> asMatrix(const ContractionLoops &rows,
                                      const ContractionLoops &columns,
                                      const ContractionLoops &batch,
                                      host::Operand operand) {
  std::optional<int64_t> rowStride = joinedStride(rows, operand),
                         columnStride = joinedStride(columns, operand),
                         batchStride = joinedStride(batch, operand);
  if (!rowStride || !columnStride || !batchStride || *batchStride < 0)
    return std::nullopt;
  int64_t numRows = numIterations(rows), numColumns = numIterations(columns);
  int64_t lead = rows.empty() ? numColumns : *rowStride;
  if ((columns.empty() || *columnStride == 1) && lead >= numColumns)
    return Matrix{numColumns, numRows, lead, *batchStride, false};
  lead = columns.empty() ? numRows : *columnStride;
  if ((rows.empty() || *rowStride == 1) && lead >= numRows)
    return Matrix{numRows, numColumns, lead, *batchStride, true};
  return std::nullopt;
}

static std::optional<Products> asProducts(const Contraction &contraction) {
  std::optional<Matrix> a = asMatrix(contraction.rows, contraction.inner,
                                     contraction.batch, host::kA),
                        b = asMatrix(contraction.inner, contraction.columns,
                                     contraction.batch, host::kB),
                        c = asMatrix(contraction.rows, contraction.columns,
                                     contraction.batch, host::kC);
  if (!a || !b || !c || c->isTransposed)
    return std::nullopt;
  return Products{*a, *b, *c, numIterations(contraction.batch)};
}

static std::optional<cudaDataType_t> getType(int64_t type) {
  switch (type) {
  case TOFU_F32:
    return CUDA_R_32F;
  case TOFU_F64:
    return CUDA_R_64F;
  case TOFU_F16:
    return CUDA_R_16F;
  case TOFU_BF16:
    return CUDA_R_16BF;
  default:
    return std::nullopt;
  }
}

/// True if the library multiplies these types: it has no integers as programs
/// have them, and results are of the type of the inputs or f32.
static bool takesTypes(int64_t input, int64_t output) {
  return getType(input) && getType(output) &&
         (input == output || (output == TOFU_F32 && input != TOFU_F64));
}

/// The largest power of two up to 256 that the address is a multiple of.
static uint32_t getAlignment(const void *memory) {
  uintptr_t address = reinterpret_cast<uintptr_t>(memory) | 256;
  return static_cast<uint32_t>(address & -address);
}

/// True if the bias is a vector without gaps along the columns of C, the rows
/// of C^T.
static bool hasVector(const Contraction &contraction) {
  std::optional<int64_t> columns =
                             joinedStride(contraction.columns, host::kBias),
                         rows = joinedStride(contraction.rows, host::kBias),
                         batch = joinedStride(contraction.batch, host::kBias);
  return columns && (contraction.columns.empty() || *columns == 1) &&
         rows == 0 && batch == 0;
}

/// The bias as a matrix to add the product to; nothing if it is none like C.
static std::optional<Matrix> getAddend(const Contraction &contraction) {
  std::optional<Matrix> matrix = asMatrix(contraction.rows, contraction.columns,
                                          contraction.batch, host::kBias);
  bool isRepeated =
      matrix && matrix->batchStride == 0 && !contraction.batch.empty();
  return matrix && !matrix->isTransposed && !isRepeated &&
                 !contraction.accumulate
             ? matrix
             : std::nullopt;
}

/// The library's epilogue, if it has it for this layout; nothing else.
///
/// CUBLASLT_EPILOGUE_RELU gives 0 for NaN, as TOFU_ACTIVATION_RELU: the
/// header's max(x, 0) doesn't say so, but users saw it (NVIDIA's developer
/// forum, topic 329783). So TOFU_ACTIVATION_RELU_NAN isn't the library's.
/// CUBLASLT_EPILOGUE_GELU is the form with tanh, as which PyTorch uses it for
/// `_addmm_activation`.
static std::optional<LibraryEpilogue>
getEpilogue(const Contraction &contraction) {
  if (contraction.activation == TOFU_ACTIVATION_RELU_NAN)
    return std::nullopt;
  LibraryEpilogue epilogue;
  bool isVector = contraction.bias && hasVector(contraction);
  if (contraction.bias && !isVector) {
    epilogue.addend = getAddend(contraction);
    if (!epilogue.addend)
      return std::nullopt;
  }
  switch (contraction.activation) {
  case TOFU_ACTIVATION_RELU:
    epilogue.kind =
        isVector ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    break;
  case TOFU_ACTIVATION_GELU_TANH:
    epilogue.kind =
        isVector ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    break;
  default:
    epilogue.kind =
        isVector ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
  return epilogue;
}

static cublasStatus_t describeEpilogue(const Descriptors &descriptors,
                                       const Contraction &contraction,
                                       const LibraryEpilogue &epilogue) {
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto &value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = cublasLtMatmulDescSetAttribute(descriptors.operation, attribute,
                                              &value, sizeof(value));
  };
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue.kind);
  if (!contraction.bias || epilogue.addend)
    return status;
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, contraction.bias);
  set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, *getType(contraction.outputType));
  return status;
}

static cublasStatus_t describe(Descriptors &descriptors,
                               const Contraction &contraction,
                               const Products &products,
                               const LibraryEpilogue &epilogue) {
  cudaDataType_t input = *getType(contraction.inputType),
                 output = *getType(contraction.outputType);
  bool isDouble = contraction.outputType == TOFU_F64;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  auto make = [&](cublasStatus_t next) {
    status = status == CUBLAS_STATUS_SUCCESS ? next : status;
  };
  make(cublasLtMatmulDescCreate(&descriptors.operation,
                                isDouble ? CUBLAS_COMPUTE_64F
                                         : CUBLAS_COMPUTE_32F,
                                isDouble ? CUDA_R_64F : CUDA_R_32F));
  make(cublasLtMatmulPreferenceCreate(&descriptors.preference));
  if (status != CUBLAS_STATUS_SUCCESS)
    return status;
  const Matrix *matrices[] = {&products.b, &products.a, &products.c,
                              epilogue.addend ? &*epilogue.addend
                                              : &products.c};
  for (int i = 0; i < 4; ++i) {
    const Matrix &matrix = *matrices[i];
    cublasLtMatrixLayout_t &layout = descriptors.layouts[i];
    make(cublasLtMatrixLayoutCreate(&layout, i < 2 ? input : output,
                                    matrix.rows, matrix.columns, matrix.lead));
    if (status != CUBLAS_STATUS_SUCCESS)
      return status;
    int32_t batch = static_cast<int32_t>(products.batch);
    make(cublasLtMatrixLayoutSetAttribute(
        layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof(batch)));
    make(cublasLtMatrixLayoutSetAttribute(
        layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
        &matrix.batchStride, sizeof(matrix.batchStride)));
  }
  cublasOperation_t ofB = products.b.isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                    ofA = products.a.isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  make(cublasLtMatmulDescSetAttribute(
      descriptors.operation, CUBLASLT_MATMUL_DESC_TRANSA, &ofB, sizeof(ofB)));
  make(cublasLtMatmulDescSetAttribute(
      descriptors.operation, CUBLASLT_MATMUL_DESC_TRANSB, &ofA, sizeof(ofA)));
  return status;
}

static cublasStatus_t findAlgorithm(Device &device,
                                    const Descriptors &descriptors,
                                    const Contraction &contraction,
                                    const Products &products,
                                    const LibraryEpilogue &epilogue,
                                    cublasLtMatmulAlgo_t &algorithm) {
  const void *data[] = {contraction.data[host::kB], contraction.data[host::kA],
                        epilogue.addend ? contraction.bias
                                        : contraction.data[host::kC],
                        contraction.data[host::kC]};
  const Matrix &addend = epilogue.addend ? *epilogue.addend : products.c;
  std::vector<int64_t> key = {contraction.inputType, contraction.outputType,
                              products.batch, epilogue.kind,
                              epilogue.addend.has_value()};
  for (const Matrix *matrix : {&products.a, &products.b, &products.c, &addend})
    key.insert(key.end(), {matrix->rows, matrix->columns, matrix->lead,
                           matrix->batchStride, matrix->isTransposed});
  for (const void *each : data)
    key.push_back(getAlignment(each));
  if (contraction.bias)
    key.push_back(getAlignment(contraction.bias));
  auto known = device.algorithms.find(key);
  if (known != device.algorithms.end()) {
    algorithm = known->second;
    return CUBLAS_STATUS_SUCCESS;
  }
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                 const void *value, size_t bytes) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = cublasLtMatmulPreferenceSetAttribute(descriptors.preference,
                                                    attribute, value, bytes);
  };
  size_t workspace = kWorkspaceBytes;
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof(workspace));
  const cublasLtMatmulPreferenceAttributes_t alignments[] = {
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  for (int i = 0; i < 4; ++i) {
    uint32_t alignment = getAlignment(data[i]);
    set(alignments[i], &alignment, sizeof(alignment));
  }
  if (status != CUBLAS_STATUS_SUCCESS)
    return status;
  cublasLtMatmulHeuristicResult_t result = {};
  int found = 0;
  status = cublasLtMatmulAlgoGetHeuristic(
      device.blas, descriptors.operation, descriptors.layouts[0],
      descriptors.layouts[1], descriptors.layouts[3], descriptors.layouts[2],
      descriptors.preference, 1, &result, &found);
  if (status == CUBLAS_STATUS_SUCCESS && !found)
    status = CUBLAS_STATUS_NOT_SUPPORTED;
  if (status == CUBLAS_STATUS_SUCCESS)
    device.algorithms[key] = algorithm = result.algo;
  return status;
}

static cublasStatus_t multiply(Device &device, cudaStream_t stream,
                               const Contraction &contraction,
                               const Products &products,
                               const LibraryEpilogue &epilogue = {}) {
  Descriptors descriptors;
  cublasStatus_t status =
      describe(descriptors, contraction, products, epilogue);
  if (status == CUBLAS_STATUS_SUCCESS &&
      epilogue.kind != CUBLASLT_EPILOGUE_DEFAULT)
    status = describeEpilogue(descriptors, contraction, epilogue);
  cublasLtMatmulAlgo_t algorithm = {};
  if (status == CUBLAS_STATUS_SUCCESS)
    status = findAlgorithm(device, descriptors, contraction, products, epilogue,
                           algorithm);
  if (status != CUBLAS_STATUS_SUCCESS)
    return status;
  bool isDouble = contraction.outputType == TOFU_F64;
  bool adds = contraction.accumulate || epilogue.addend;
  const double one = 1, beta = adds;
  const float oneAsFloat = 1, betaAsFloat = adds;
  void *c = contraction.data[host::kC];
  const void *addend = epilogue.addend ? contraction.bias : c;
  return cublasLtMatmul(
      device.blas, descriptors.operation,
      isDouble ? static_cast<const void *>(&one) : &oneAsFloat,
      contraction.data[host::kB], descriptors.layouts[0],
      contraction.data[host::kA], descriptors.layouts[1],
      isDouble ? static_cast<const void *>(&beta) : &betaAsFloat, addend,
      descriptors.layouts[3], c, descriptors.layouts[2], &algorithm,
      device.workspace, kWorkspaceBytes, stream);
}

/// The products of matrices in memory that a contraction is, or its transpose;
/// then it is turned around.
static std::optional<Products> findProducts(Contraction &contraction) {
  std::optional<Products> products = asProducts(contraction);
  if (products)
    return products;
  contraction = contraction.transposed();
  return asProducts(contraction);
}

/// False if the library doesn't do products with that epilogue, whatever the
/// reason: what is wrong may be the epilogue's fault.
static bool runWithEpilogue(Device &device, cudaStream_t stream,
                            const Contraction &contraction,
                            const Products &products) {
  std::optional<LibraryEpilogue> epilogue = getEpilogue(contraction);
  return epilogue && multiply(device, stream, contraction, products,
                              *epilogue) == CUBLAS_STATUS_SUCCESS;
}

/// Leaves the epilogue out.
static Outcome runProducts(Device &device, cudaStream_t stream,
                           const Contraction &contraction,
                           const Products &products, const char *location) {
  cublasStatus_t status = multiply(device, stream, contraction, products);
  if (status == CUBLAS_STATUS_SUCCESS)
    return Outcome::Done;
  if (status == CUBLAS_STATUS_NOT_SUPPORTED)
    return Outcome::Refused;
  device.fail(location, "a contraction: " + describe(status));
  return Outcome::Failed;
}

/// By the library that has all of it in one call, else without the epilogue.
/// What is left to do is in `joined`, which is `contraction` but joined.
static Outcome runInLibrary(Device &device, cudaStream_t stream,
                            const Contraction &contraction, Contraction &joined,
                            const char *location) {
  Outcome outcome = Outcome::Refused;
  std::optional<Products> products = findProducts(joined);
  if (joined.hasEpilogue()) {
    if (products && runWithEpilogue(device, stream, joined, *products))
      outcome = Outcome::Done;
    else
      outcome = runConvolution(device, stream, contraction, location);
    if (outcome == Outcome::Done)
      joined = joined.withoutEpilogue();
  }
  if (outcome == Outcome::Refused && products)
    outcome = runProducts(device, stream, joined, *products, location);
  if (outcome == Outcome::Refused)
    outcome =
        runConvolution(device, stream, contraction.withoutEpilogue(), location);
  return outcome;
}

/// Describes a contraction to the backend's own kernels. False if it has too
/// many loops for them.
static bool makeWork(const Contraction &contraction, ContractionWork &work) {
  work.inputType = contraction.inputType;
  work.outputType = contraction.outputType;
  work.accumulate = contraction.accumulate;
  work.a = contraction.data[host::kA];
  work.b = contraction.data[host::kB];
  work.c = contraction.data[host::kC];
  work.activation = contraction.activation;
  work.bias = contraction.bias;
  work.outerVolume = work.innerVolume = 1;
  int32_t count = 0;
  auto add = [&](const ContractionLoops &loops, int64_t &volume) {
    for (const host::ContractionLoop &loop : loops) {
      if (count == kMaxLoops)
        return false;
      work.axes[count++] = {loop.size, loop.strides[host::kA],
                            loop.strides[host::kB], loop.strides[host::kC],
                            loop.strides[host::kBias]};
      volume *= loop.size;
    }
    return true;
  };
  bool fits = add(contraction.batch, work.outerVolume) &&
              add(contraction.rows, work.outerVolume) &&
              add(contraction.columns, work.outerVolume);
  work.numOuter = count;
  fits = fits && add(contraction.inner, work.innerVolume);
  work.numInner = count - work.numOuter;
  return fits;
}

/// Runs a kernel of ours, `launch`, which is of `what`.
static bool runKernel(Device &device, cudaStream_t stream,
                      const Contraction &contraction, const char *location,
                      decltype(launchContraction) *launch, const char *what) {
  ContractionWork work = {};
  if (!makeWork(contraction, work))
    return device.fail(location, "a contraction has too many loops");
  return device.check(launch(stream, work), location, what);
}

bool cuda::runContraction(Device &device, cudaStream_t stream,
                          const int64_t *words, const char *location,
                          const host::ContractionMemrefs &memrefs) {
  std::string error;
  Contraction contraction;
  if (!contraction.read(words, memrefs, error))
    return device.fail(location, error);
  ++device.context->contractions.calls;
  device.context->contractions.flops += contraction.flops();
  if (contraction.hasNoResult)
    return true;

  Contraction joined = contraction;
  joined.join();
  Outcome outcome = Outcome::Refused;
  if (!contraction.hasNoTerms &&
      takesTypes(contraction.inputType, contraction.outputType))
    outcome = runInLibrary(device, stream, contraction, joined, location);
  if (outcome == Outcome::Refused)
    return runKernel(device, stream, joined, location, launchContraction,
                     "a contraction");
  return outcome == Outcome::Done &&
         (!joined.hasEpilogue() ||
          runKernel(device, stream, joined, location, launchEpilogue,
                    "the epilogue of a contraction"));
}
