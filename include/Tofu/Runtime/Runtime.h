/*===- Runtime.h - What a lowered program calls ------------------*- C -*-===*\
|*                                                                            *|
|* Part of the Tofu project, under the Apache License v2.0 with LLVM          *|
|* Exceptions.                                                                *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The C ABI between a lowered program and the runtime. A program is SPMD:    *|
|* every device runs the same function with a context of its own, calls the   *|
|* same collectives in the same order, and keeps all mutable state in that    *|
|* context.                                                                   *|
|*                                                                            *|
|* Nothing here assumes one address space. Handles are opaque, memory that    *|
|* tofuAlloc returns and that memrefs point to belongs to the device, and the *|
|* work of a call may still be queued on its stream when the call returns.    *|
|* Tables, messages and locations are host memory that outlives the run.      *|
|*                                                                            *|
|* Streams. Work on one stream is done in the order of the calls. Between two *|
|* streams only tofuRecord and tofuWait make an order. tofuAlloc, tofuFree    *|
|* and tofuGlobal are ordered with the compute stream. What tofuConstant and  *|
|* the runner give is ready for all streams.                                  *|
|*                                                                            *|
|* Entry points. A public function @f is lowered to f(context, arguments...)  *|
|* with the C interface of MLIR (llvm.emit_c_interface):                      *|
|*   void _mlir_ciface_f(R *results, TofuContext *, A... arguments)           *|
|* where an argument is the address of a ranked memref descriptor or a plain  *|
|* scalar, and R is the struct of the results (descriptors and scalars, with  *|
|* the natural alignment of C). With no results there is no first argument; a *|
|* lone scalar result is returned. Buffers of arguments must be aligned to 16 *|
|* bytes. Result buffers may be arguments, constants or memory of the         *|
|* context; they are valid until the context is reset.                        *|
|*                                                                            *|
|* Errors. No call returns a status. A call that fails ends the run of its    *|
|* device: it leaves the program with longjmp, back to where the device       *|
|* started, and the other devices leave at their next collective. The first   *|
|* failure is the one reported. Compiled programs therefore hold nothing that *|
|* needs a destructor; the context frees their memory.                        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef TOFU_RUNTIME_RUNTIME_H
#define TOFU_RUNTIME_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A device's memory, communicator and statistics. One thread at a time. */
typedef struct TofuContext TofuContext;

/** An ordered queue of work on a device. Null is the device's compute stream.
 */
typedef struct TofuStream TofuStream;

/** The streams of a device. */
typedef enum TofuStreamKind {
  TOFU_COMPUTE = 0,
  TOFU_COMMUNICATION = 1,
  TOFU_NUM_STREAMS = 2
} TofuStreamKind;

/** Version of all tables below; the first word of each. */
#define TOFU_TABLE_VERSION 5

/** In the place of a size: known only when the program runs. */
#define TOFU_UNKNOWN -1

/** In the place of the size of an iteration dim: unknown too, and the last of
 *  its indices may reach beyond the end of the value. */
#define TOFU_COVERING -2

/** Element types. i1 is one byte in memory, 0 or 1; index has 64 bits. A
 *  complex number is its real part, then its imaginary part. */
typedef enum TofuElementType {
  TOFU_F32 = 0,
  TOFU_F64 = 1,
  TOFU_F16 = 2,
  TOFU_BF16 = 3,
  TOFU_I1 = 4,
  TOFU_I8 = 5,
  TOFU_I16 = 6,
  TOFU_I32 = 7,
  TOFU_I64 = 8,
  TOFU_INDEX = 9,
  TOFU_COMPLEX_F32 = 10,
  TOFU_COMPLEX_F64 = 11,
  TOFU_NUM_ELEMENT_TYPES = 12
} TofuElementType;

/** Kinds of collectives. The boxes alone say what must move; the kind says
 *  which of a library's calls can do it. */
typedef enum TofuCollectiveKind {
  TOFU_ALL_REDUCE = 0,
  TOFU_ALL_GATHER = 1,
  TOFU_REDUCE_SCATTER = 2,
  TOFU_ALL_TO_ALL = 3,
  TOFU_FETCH = 4,
  TOFU_BROADCAST = 5,
  TOFU_NUM_COLLECTIVE_KINDS = 6
} TofuCollectiveKind;

/** How partial results combine, as the arith operation of that meaning:
 *  MIN and MAX are minimumf and maximumf (NaN wins, -0 < +0) or minsi and
 *  maxsi; MINNUM and MAXNUM are minnumf and maxnumf (the number wins); MINUI
 *  and MAXUI compare unsigned. SUM and PROD of integers wrap. AND, OR, XOR and
 *  the unsigned ones are for integers only, MINNUM and MAXNUM for floats.
 *  Complex numbers have SUM and PROD. */
typedef enum TofuCombiner {
  TOFU_COMBINE_NONE = 0,
  TOFU_COMBINE_SUM = 1,
  TOFU_COMBINE_PROD = 2,
  TOFU_COMBINE_MIN = 3,
  TOFU_COMBINE_MAX = 4,
  TOFU_COMBINE_AND = 5,
  TOFU_COMBINE_OR = 6,
  TOFU_COMBINE_XOR = 7,
  TOFU_COMBINE_MINNUM = 8,
  TOFU_COMBINE_MAXNUM = 9,
  TOFU_COMBINE_MINUI = 10,
  TOFU_COMBINE_MAXUI = 11,
  TOFU_NUM_COMBINERS = 12
} TofuCombiner;

/** Words of a collective table. The fixed part is followed by
 *    k words             family of each device: data moves within families
 *    k words             addend of each device: which of the p partial results
 *                        that make up the value it holds; 0 if there is one
 *    k words             slot of each device: which of the m partial results
 *                        that are to make up the value it must end with
 *    k * rank * 2 words  the box [lo, hi) per dim that each device holds
 *    k * rank * 2 words  the box that each device must end with
 *  Boxes are in indices of the whole value; empty ones have hi <= lo. Devices
 * of a family with the same addend hold the same values. Each element that a
 *  family needs ends in one of its slots; in the others it is the combiner's
 *  neutral element. */
enum {
  TOFU_COLLECTIVE_VERSION = 0,
  TOFU_COLLECTIVE_KIND = 1,     /**< TofuCollectiveKind */
  TOFU_COLLECTIVE_COMBINER = 2, /**< TofuCombiner; NONE if p and m are 1 */
  TOFU_COLLECTIVE_TYPE = 3,     /**< TofuElementType */
  TOFU_COLLECTIVE_RANK = 4,     /**< of the value; 0 is one element */
  TOFU_COLLECTIVE_DEVICES = 5,  /**< k */
  TOFU_COLLECTIVE_ADDENDS = 6,  /**< p */
  TOFU_COLLECTIVE_SLOTS = 7,    /**< m */
  TOFU_COLLECTIVE_HEADER = 8
};

/** Words of the table of an even collective: what a library such as NCCL does
 * in one call, on memory without gaps. Devices form groups of the same size g,
 * in which they are numbered by rank. The fixed part is followed by k words
 * group of each device k words             rank of each device in its group
 *  With COUNT elements in a part, the kinds are
 *    ALL_REDUCE          from one part to one part: all are combined
 *    REDUCE_SCATTER      from g parts to one part: parts `rank` are combined
 *    ALL_GATHER          from one part to g parts, in the order of ranks
 *    BROADCAST           one part, from rank ROOT to all; the others give none
 */
enum {
  TOFU_EVEN_VERSION = 0,
  TOFU_EVEN_KIND = 1,     /**< TofuCollectiveKind */
  TOFU_EVEN_COMBINER = 2, /**< TofuCombiner, NONE for kinds without one */
  TOFU_EVEN_TYPE = 3,     /**< TofuElementType */
  TOFU_EVEN_COUNT = 4,    /**< at least 1 */
  TOFU_EVEN_ROOT = 5,     /**< 0 but for BROADCAST */
  TOFU_EVEN_DEVICES = 6,  /**< k */
  TOFU_EVEN_HEADER = 7
};

/* Words of a geometry: the boxes of a value some of whose sizes are known only
 *  when the program runs.
 *    1 word              rank of the value
 *    1 word              number of mesh axes
 *    a word per axis     its size; the product is k. Devices are numbered
 *                        row-major in the coordinates, last axis fastest
 *    a word per dim      the size of the value, or UNKNOWN: the next of the
 *                        sizes that come with the call
 *  and for each placement
 *    1 word              number of iteration dims
 *    for each of these   its size, or UNKNOWN: so large that it fills the value
 *                        by the first index that it is in, all other dims of
 *                        which are known, or COVERING: that index reaches the
 *                        value's end; the number of axes that cut it, and
 *                        these axes, outermost first. Each cut is balanced
 *    for each dim of     the number of terms of its index, or UNKNOWN: all
 *    the value           indices; a constant; for each term an iteration dim
 *                        and the coefficient that it is multiplied by
 *  A device's box is what the index takes over its part of the iteration dims,
 *  within the value.
 *
 *  The table of a collective on such a value has, in the place of the boxes, a
 *  geometry with two placements: where the value is held, and where it must
 * end. The table of a shard is the version, followed by a geometry with one. */

/** Words of a contraction table. The fixed part is followed by one word per
 *  dim of A, then of B, then of C: the loop dim that indexes it, or -1 where
 *  the index is always 0. A loop dim in A and B that is missing from C is
 *  summed over; one in all three is a batch dim. Sizes come from the
 *  descriptors. */
enum {
  TOFU_CONTRACT_VERSION = 0,
  TOFU_CONTRACT_INPUT_TYPE = 1,  /**< TofuElementType of A and B */
  TOFU_CONTRACT_OUTPUT_TYPE = 2, /**< TofuElementType of C */
  TOFU_CONTRACT_ACCUMULATE = 3,  /**< 1: C += A * B, 0: C = A * B */
  TOFU_CONTRACT_LOOPS = 4,       /**< number of loop dims */
  TOFU_CONTRACT_RANK_A = 5,
  TOFU_CONTRACT_RANK_B = 6,
  TOFU_CONTRACT_RANK_C = 7,
  TOFU_CONTRACT_HEADER = 8
};

/** What becomes of an element of a contraction once it is summed up. RELU is
 *  x > 0 ? x : 0, which is 0 for NaN, as of maxnumf with 0; RELU_NAN is
 *  x <= 0 ? 0 : x, which is NaN for NaN, as of maximumf with 0.
 *  GELU_TANH is x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))). */
typedef enum TofuActivation {
  TOFU_ACTIVATION_NONE = 0,
  TOFU_ACTIVATION_RELU = 1,
  TOFU_ACTIVATION_GELU_TANH = 2,
  TOFU_ACTIVATION_RELU_NAN = 3,
  TOFU_NUM_ACTIVATIONS = 4
} TofuActivation;

/** The table of a contraction with an epilogue is that of the contraction,
 *  followed by a TofuActivation, and by one word per dim of the bias: the loop
 *  dim of C that indexes it, or -1 where the index is always 0. */

/** What the host calls for a launch: it has the kernel compiled for itself, and
 *  goes through the threads. See tofuLaunch. */
typedef void (*TofuHostKernel)(void **arguments, const int64_t *shape);

/** What a kernel does with an argument: 0 for a number. */
enum { TOFU_READS = 1, TOFU_WRITES = 2 };

/** A kernel, a constant of the program. It has an image for the device, which
 *  other kernels may share, or a function of the host. */
typedef struct TofuKernel {
  int64_t version;    /**< TOFU_TABLE_VERSION */
  const char *name;   /**< of the entry in the image */
  const void *image;  /**< a cubin, a fat binary, or PTX ending in zero; null:
                           see onHost */
  int64_t imageBytes; /**< size of the image */
  TofuHostKernel onHost; /**< null if there is an image */
  int64_t numArguments;
  const int64_t *arguments; /**< two words each: bytes; READS, WRITES, both or
                                 0. An address reads and writes the block of
                                 memory that it is in, and no other */
} TofuKernel;

/** Memory of the device, aligned to 64 bytes. `bytes` may be 0. Never null:
 *  fails if there is none left or if `bytes` is negative. */
void *tofuAlloc(TofuContext *context, int64_t bytes);

/** Gives memory from tofuAlloc back. Null is allowed. */
void tofuFree(TofuContext *context, void *memory);

/** Memory of the device for the program's global of that name, aligned to 64
 *  bytes. All runs of the context get the same memory, until one fails; the
 *  first time *isNew becomes 1, as nothing is in it yet, then 0. Never null:
 *  fails if there is none left, if `bytes` is negative or is not what it was
 *  before. `name` may go after the call. */
void *tofuGlobal(TofuContext *context, const char *name, int64_t bytes,
                 int8_t *isNew);

/** Number of the device, 0..k-1, row-major in the mesh coordinates. */
int64_t tofuDeviceId(TofuContext *context);

/** The device's stream of that kind, a TofuStreamKind; may be null, and may be
 *  the same for all. */
TofuStream *tofuStream(TofuContext *context, int64_t kind);

/** Marks how far the stream has come as event number `event`, until the event
 *  is recorded again. Events are numbered from 0. */
void tofuRecord(TofuContext *context, TofuStream *stream, int64_t event);

/** Lets what comes on the stream from now on wait for the last record of the
 *  event on this device; for nothing if there was none. */
void tofuWait(TofuContext *context, TofuStream *stream, int64_t event);

/** Waits for all that came before, on all streams of the device. */
void tofuSynchronize(TofuContext *context);

/** Brings every device from its `from` box to its `to` box of one value,
 *  combining partial results, or making them, on the way. All devices call it
 * with the same table, in the same order; empty boxes are no exception.
 *
 *  src, dst: memref descriptors whose sizes are those of the device's boxes;
 *  any strides. They don't overlap, except that an all_reduce may be in place.
 *  Partial results combine in the order of the addends and replicas get the
 *  same bits; f16 and bf16 are combined in f32 and rounded at each step.
 *  Fails if the devices are not all at this collective, if one of them has
 *  failed, or if one doesn't come within the timeout. */
void tofuCollective(TofuContext *context, TofuStream *stream,
                    const int64_t *table, const char *location, int64_t srcRank,
                    void *src, int64_t dstRank, void *dst);

/** As tofuCollective, of a value with unknown sizes: `sizes` has them in order,
 *  the same on all devices. */
void tofuCollectiveOfSizes(TofuContext *context, TofuStream *stream,
                           const int64_t *table, const int64_t *sizes,
                           const char *location, int64_t srcRank, void *src,
                           int64_t dstRank, void *dst);

/** The collective of an even table, from and to the memory of the device that
 *  `src` and `dst` point to. They don't overlap, except that an all_reduce may
 *  be in place. Within a group all end with the same bits; the order in which
 *  partial results combine is the library's. Otherwise as tofuCollective. */
void tofuEvenCollective(TofuContext *context, TofuStream *stream,
                        const int64_t *table, const char *location,
                        const void *src, void *dst);

/** Between these come collectives on that stream only, none of which depends on
 *  another one: the runtime may do them together, once the group ends. All
 *  devices group alike. */
void tofuGroupBegin(TofuContext *context, TofuStream *stream);
void tofuGroupEnd(TofuContext *context, TofuStream *stream);

/** The first index, and the number of indices, in dim `dim` of the box that the
 *  device has by the table of a shard, of a value with the unknown sizes
 *  `sizes`. */
int64_t tofuShardOffset(TofuContext *context, const int64_t *table,
                        const int64_t *sizes, int64_t dim);
int64_t tofuShardSize(TofuContext *context, const int64_t *table,
                      const int64_t *sizes, int64_t dim);

/** C = A * B, or C += A * B: any contraction of two operands.
 *
 *  a, b, c: memref descriptors, any strides; C overlaps neither A nor B. Sums
 *  of f16 and bf16 are kept in f32 and rounded once, to C's type. Integers are
 *  sign-extended to C's type and wrap; i1 and complex numbers are not
 * supported. Fails if the sizes of a loop dim disagree. */
void tofuContract(TofuContext *context, TofuStream *stream,
                  const int64_t *table, const char *location, int64_t aRank,
                  void *a, int64_t bRank, void *b, int64_t cRank, void *c);

/** A contraction with an epilogue: C = activation(A * B + bias), or
 *  C = activation(C + A * B + bias), of floats.
 *
 *  bias: a memref descriptor as well, of elements of C's type; null for none.
 *  C doesn't overlap it. The epilogue is computed in f64 if C is f64, else in
 *  f32; whether sums are rounded to C's type before it is the backend's choice.
 *  Otherwise as tofuContract. */
void tofuContractWithEpilogue(TofuContext *context, TofuStream *stream,
                              const int64_t *table, const char *location,
                              int64_t aRank, void *a, int64_t bRank, void *b,
                              int64_t cRank, void *c, int64_t biasRank,
                              void *bias);

/** Runs a kernel on a grid of threads.
 *
 *  shape: six words, the number of blocks along x, y and z, and the number of
 *  threads of a block along these. With no blocks nothing happens.
 *  arguments: the address of each argument, in the order of the kernel's
 *  parameters; both are read before the call returns. */
void tofuLaunch(TofuContext *context, TofuStream *stream,
                const TofuKernel *kernel, const char *location,
                const int64_t *shape, void **arguments);

/** Copies from the memory of the device to that of the host, or the other way
 *  around. What is read is there when the call returns, after all that came
 *  before on the stream. What is written may change after the call. */
void tofuRead(TofuContext *context, TofuStream *stream, void *host,
              const void *device, int64_t bytes);
void tofuWrite(TofuContext *context, TofuStream *stream, void *device,
               const void *host, int64_t bytes);

/** Memory of the device with what is at `host`, a constant of the program. All
 *  runs of the context get the same memory, which nobody writes to. Fails if
 *  there is none left. */
void *tofuConstant(TofuContext *context, const void *host, int64_t bytes);

/** Ends the run: this device failed at `location` with `message`. Does not
 *  return. */
void tofuFail(TofuContext *context, const char *message, const char *location);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* TOFU_RUNTIME_RUNTIME_H */
