/*===- Backend.h - What a runner calls ---------------------------*- C -*-===*\
|*                                                                            *|
|* Part of the Tofu project, under the Apache License v2.0 with LLVM          *|
|* Exceptions.                                                                *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The C ABI between a runner and a backend: a world of devices, their memory *|
|* and statistics, and the symbols that programs link against (Runtime.h). A  *|
|* backend NAME is a shared library libtofu_runtime_NAME.so that exports      *|
|* tofuGetBackend and is loaded with dlopen, so that the tools start where    *|
|* the libraries behind a backend are absent.                                 *|
|*                                                                            *|
|* A world may span processes: `context` is null for a device of another one, *|
|* and `run` runs the devices of this one and ends with the same status in    *|
|* all. The process that has device 0 reports; `bring` takes to it what the   *|
|* others have. Only `run` takes the program's code to the devices' threads;  *|
|* all other calls come from the runner's.                                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef TOFU_RUNTIME_BACKEND_H
#define TOFU_RUNTIME_BACKEND_H

#include "Tofu/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Changes whenever a struct of this file does. */
#define TOFU_BACKEND_VERSION 7

/** k devices that run one program together. */
typedef struct TofuWorld TofuWorld;

typedef struct TofuWorldOptions {
  int64_t numDevices;    /**< k, at least 1 */
  double timeoutSeconds; /**< how long a device waits in a collective */
  int64_t numGpus;       /**< spread devices over so many GPUs, the first ones
                              of each machine; 0: over all */
} TofuWorldOptions;

/** What one device runs. It may leave through longjmp: nothing in its frame
 *  may need a destructor. */
typedef void (*TofuBody)(TofuContext *context, int64_t device, void *user);

typedef enum TofuStatus {
  TOFU_OK = 0,
  TOFU_FAILED = 1, /**< see `error`; the world can be reset and used again,
                        its globals are gone */
  TOFU_STUCK = 2   /**< as FAILED, but a device's program never came back: end
                        the process, don't destroy the world */
} TofuStatus;

/** Bytes of one device's memory. Program memory is that of tofuAlloc and
 *  tofuGlobal, input memory that of `allocate`. */
typedef struct TofuMemoryStats {
  int64_t inputBytes;       /**< now */
  int64_t programBytes;     /**< now */
  int64_t peakProgramBytes; /**< most at any one time */
  int64_t peakBytes;        /**< most of inputs and program together */
  int64_t scratchBytes;     /**< most that the runtime took beside these, for
                                 messages, kernels and libraries */
} TofuMemoryStats;

/** The calls of one collective of the program on one device. */
typedef struct TofuCollectiveStats {
  TofuCollectiveKind kind;
  const char *location;  /**< of the program; lives as long as its code */
  int64_t calls;         /**< number of calls */
  int64_t receivedBytes; /**< counted for this device, over all calls: what it
                              got from others. A partial result over a group
                              of p that goes by way of boxes V to boxes T
                              counts p*|V| - |V and own box| + |T - V| */
  int64_t dataBytes;     /**< the larger of source and destination, over all
                              calls: the size that algbw refers to */
  double seconds;        /**< in the collective, over all calls */
  double waitSeconds;    /**< the part of it spent waiting for others */
} TofuCollectiveStats;

/** Contractions of one device. */
typedef struct TofuContractStats {
  int64_t calls;
  double flops; /**< two per multiplication */
  double seconds;
} TofuContractStats;

/** A function that programs call. */
typedef struct TofuSymbol {
  const char *name;
  void *address;
} TofuSymbol;

/** How programs are lowered for a backend. */
typedef enum TofuProgramForm {
  TOFU_HOST_LOOPS = 0,    /**< the host computes, in the device's memory */
  TOFU_HOST_KERNELS = 1,  /**< kernels for the host; nothing else of the program
                               accesses the device's memory */
  TOFU_DEVICE_KERNELS = 2 /**< the same, with PTX for GPUs */
} TofuProgramForm;

typedef struct TofuBackend {
  int64_t version;  /**< TOFU_BACKEND_VERSION */
  const char *name; /**< as in the library's name */
  TofuProgramForm form;

  const TofuSymbol *symbols; /**< all of Runtime.h */
  int64_t numSymbols;

  /** A world, or null with the reason in `error` (of `errorBytes` bytes), which
   *  is empty where another process says it. */
  TofuWorld *(*createWorld)(const TofuWorldOptions *options, char *error,
                            int64_t errorBytes);
  void (*destroyWorld)(TofuWorld *world);

  /** The context of a device, or null if another process has it. */
  TofuContext *(*context)(TofuWorld *world, int64_t device);

  /** Runs `body` for each device, on a thread or process of its own, started
   *  together, and waits for all. A failed device aborts the others. */
  TofuStatus (*run)(TofuWorld *world, TofuBody body, void *user);

  /** What failed first in the last run: device, location and reason. Empty
   *  where another process says it. */
  const char *(*error)(TofuWorld *world);

  /** Device memory that stays until `release`, aligned to 64 bytes; null if
   *  there is not enough. */
  void *(*allocate)(TofuContext *context, int64_t bytes);
  void (*release)(TofuContext *context, void *memory);

  /** Copies between host and device memory, done when they return; not for use
   *  during a run. 0 if one fails: `error` says why. */
  int8_t (*copyIn)(TofuContext *context, void *device, const void *host,
                   int64_t bytes);
  int8_t (*copyOut)(TofuContext *context, void *host, const void *device,
                    int64_t bytes);
  /** The same of a tensor whose first element is at `device`: to the host,
   * where elements lie one after the other, the last dim innermost. Strides are
   * in elements, of 1, 2, 4, 8 or 16 bytes; there are up to 32 dims. */
  int8_t (*packOut)(TofuContext *context, void *host, const void *device,
                    int64_t elementBytes, int64_t rank, const int64_t *sizes,
                    const int64_t *strides);

  /** Waits for the work on all streams of the device; for use within a body. */
  void (*synchronize)(TofuContext *context);

  /** Frees what the program has left of tofuAlloc's memory, but not its
   *  globals. */
  void (*reset)(TofuContext *context);

  /** Statistics since the last `resetStats`, which sets peaks to the present
   *  and the rest to zero. `collectiveStats` fills up to `capacity` entries, in
   *  the order of first calls, and returns how many there are. */
  void (*resetStats)(TofuContext *context);
  void (*memoryStats)(TofuContext *context, TofuMemoryStats *stats);
  void (*contractStats)(TofuContext *context, TofuContractStats *stats);
  int64_t (*collectiveStats)(TofuContext *context, TofuCollectiveStats *stats,
                             int64_t capacity);

  /** What the devices did in the last run, as JSON; valid until the next one.
   *  Null, or returns null, where no record is kept. */
  const char *(*record)(TofuWorld *world);

  /** What devices can be made of, a line for each; or null with the reason in
   *  `error` (of `errorBytes` bytes), where there is nothing. Valid until the
   *  next call. */
  const char *(*listDevices)(char *error, int64_t errorBytes);

  /** Brings bytes of the host's memory from the process that has `device` to
   *  that of device 0, into `memory` there. All processes call it between runs,
   *  in the same order and with the same number of bytes. 0 with the reason in
   *  `error` (of `errorBytes` bytes) if that fails. Null where worlds have one
   *  process. */
  int8_t (*bring)(TofuWorld *world, int64_t device, void *memory, int64_t bytes,
                  char *error, int64_t errorBytes);

  /** For use within a body: does what `body` does on the device, which calls
   *  the program, and need not call it every time. From the first run of the
   *  world to the last one that has not failed, `body` must be the same, and
   *  call the program with the same arguments in the same memory, whose
   *  contents may change; tables and locations that the program passes stay
   *  where they are. Null where each run is a call. */
  void (*repeat)(TofuContext *context, TofuBody body, void *user);

  /** How runs were repeated, for people; empty if there is nothing to say. Null
   *  where `repeat` is. Valid until the next run. */
  const char *(*notice)(TofuWorld *world);
} TofuBackend;

/** The one symbol that a backend library must export. */
const TofuBackend *tofuGetBackend(void);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* TOFU_RUNTIME_BACKEND_H */
