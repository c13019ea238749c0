//===- VersionTest.cpp - Tests of what the CUDA backend is loaded with ----===//
//
// Part of the Tofu project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Drivers and libraries of other versions than those of the headers, and errors
// that libraries have no text for.
//
//===----------------------------------------------------------------------===//

#include "Fake.h"
#include "TestWorld.h"

#include "gtest/gtest.h"

using namespace mlir::tofu;
using namespace mlir::tofu::test;

namespace {

/// As the headers say afterwards.
class Versions : public testing::Test {
protected:
  void TearDown() override {
    numFakeGpus = 1;
    driverVersion = runtimeVersion = CUDART_VERSION;
    ncclVersion = NCCL_VERSION_CODE;
    cublasLtVersion = CUBLAS_VERSION;
    errorText = "an error";
  }

  /// Why there is no world of one device; nothing if there is one.
  std::string getError() {
    TofuWorldOptions options = {1, 60, 0};
    char error[300] = "";
    TofuWorld *world = backend->createWorld(&options, error, sizeof(error));
    EXPECT_EQ(world == nullptr, error[0] != 0);
    if (world)
      backend->destroyWorld(world);
    return error;
  }

  std::string list() {
    char error[300] = "";
    const char *text = backend->listDevices(error, sizeof(error));
    return text ? text : std::string("error: ") + error;
  }

  const TofuBackend *backend = tofuGetBackend();
  const std::string major = std::to_string(CUDART_VERSION / 1000);
};

TEST_F(Versions, OfTheHeadersAreGood) {
  EXPECT_EQ(getError(), "");
  EXPECT_EQ(list().find("unusable"), std::string::npos);
}

TEST_F(Versions, ADriverThatIsTooOld) {
  driverVersion = 12080;
  runtimeVersion = CUDART_VERSION / 1000 * 1000 + 20;
  std::string error = "no GPU can be used: the driver is one for CUDA 12.8, "
                      "too old for the runtime, which is CUDA " +
                      major + ".2: install a driver for CUDA " + major +
                      " or later";
  EXPECT_EQ(getError(), error);
  EXPECT_EQ(list(), "error: " + error);
  // Minor versions of CUDA fit each other.
  driverVersion = CUDART_VERSION / 1000 * 1000;
  EXPECT_EQ(getError(), "");
  driverVersion = CUDART_VERSION + 1000;
  EXPECT_EQ(getError(), "");
}

TEST_F(Versions, NoDriver) {
  driverVersion = 0;
  onCount = cudaErrorInsufficientDriver;
  EXPECT_EQ(getError(), "no GPU can be used: an error (cudaErrorOfTest)");
}

TEST_F(Versions, ARuntimeOfAnotherMajorVersion) {
  driverVersion = runtimeVersion = CUDART_VERSION / 1000 * 1000 + 1010;
  EXPECT_EQ(getError(),
            "the CUDA runtime that is loaded is CUDA " +
                std::to_string(CUDART_VERSION / 1000 + 1) +
                ".1, but Tofu was built for CUDA " + major +
                ": put the library of that version first in LD_LIBRARY_PATH");
}

TEST_F(Versions, ACublasLtOfAnotherMajorVersion) {
  const std::string otherwise =
      ", but Tofu was built for cuBLASLt " + std::to_string(CUBLAS_VER_MAJOR) +
      ": put the library of that version first in LD_LIBRARY_PATH";
  cublasLtVersion = 120405;
  EXPECT_EQ(getError(), "the cuBLASLt that is loaded is 12.4.5" + otherwise);
  // They were counted otherwise once.
  cublasLtVersion = 11401;
  EXPECT_EQ(getError(), "the cuBLASLt that is loaded is 11.4.1" + otherwise);
  cublasLtVersion = CUBLAS_VER_MAJOR * 10000 + 9999;
  EXPECT_EQ(getError(), "");
}

TEST_F(Versions, AnNcclThatIsTooOld) {
  const std::string otherwise =
      ", but Tofu needs 2.18.1 or later: put a later library first in "
      "LD_LIBRARY_PATH";
  ncclVersion = 21701;
  EXPECT_EQ(getError(), "the NCCL that is loaded is 2.17.1" + otherwise);
  EXPECT_NE(list().find("\nunusable: the NCCL that is loaded is 2.17.1" +
                        otherwise + "\n"),
            std::string::npos)
      << list();
  ncclVersion = 2408;
  EXPECT_EQ(getError(), "the NCCL that is loaded is 2.4.8" + otherwise);
  ncclVersion = 21801;
  EXPECT_EQ(getError(), "");
}

TEST_F(Versions, AnNcclOfAnotherMajorVersion) {
  ncclVersion = 30102;
  EXPECT_EQ(getError(),
            "the NCCL that is loaded is 3.1.2, but Tofu was built for NCCL 2: "
            "put the library of that version first in LD_LIBRARY_PATH");
}

TEST_F(Versions, AreListed) {
  runtimeVersion = 13020;
  cublasLtVersion = 130102;
  ncclVersion = 22809;
  EXPECT_NE(list().find("\nwith CUDA 13.2, cuBLASLt 13.1.2, NCCL 2.28.9, "),
            std::string::npos)
      << list();
}

//===----------------------------------------------------------------------===//
// Errors without a text
//===----------------------------------------------------------------------===//

TEST_F(Versions, ErrorsWithoutATextOfCuda) {
  errorText = nullptr;
  onCount = cudaErrorNoDevice;
  EXPECT_EQ(getError(), "no GPU can be used: error 100 (error 100)");
}

TEST_F(Versions, ErrorsWithoutATextOfCublasLt) {
  errorText = nullptr;
  onCreateBlas = CUBLAS_STATUS_NOT_INITIALIZED;
  EXPECT_EQ(getError(), "cuBLASLt: error 1");
}

TEST_F(Versions, ErrorsWithoutATextOfNccl) {
  errorText = nullptr;
  numFakeGpus = 2;
  TestWorld world(2);
  // The first device makes no communicator.
  failNccl(0, 0);
  EXPECT_EQ(world.run([](TofuContext *, int64_t) {}), TOFU_FAILED);
  failNccl(-1, 0);
  EXPECT_EQ(world.error(), "device 0: a communicator: NCCL: error 6");
}

} // namespace
