// What all kernels share: their arguments, and the arithmetic of positions.
//
// Given when compiled: HZ, HY, HX (box of an atom), C (its channels), M (atoms), ROW, SLICE,
// CHANNEL (strides of a footprint), FIELD (its samples), UNIT_WEIGHTS (have all atoms weight 1?),
// SHARED (do footprints of tiles fit on chip?), CLIPPED (may patches have weights other than 1?),
// CAPPED (are non-zeros of a needle limited?), LPC (lanes that share a code), VISIT_WARPS (warps
// that share a tile in a discovery sweep), CHUNK (atoms correlated at once), TZ, TY, TX (threads of
// a region).

typedef unsigned int u32;
typedef unsigned char u8;
typedef long long i64;
typedef unsigned long long u64;

#define BOX (HZ * HY * HX)
#define N (C * BOX)
// Atoms a lane owns, and their number with padding.
#define MPL ((M + 31) / 32)
#define MS (MPL * 32)
// Distance between the fours of one atom: odd, so that the samples of an atom lie in different
// memory banks.
#define CS (MS + 1)
// Samples of a patch in fours.
#define N4 ((N + 3) / 4)
// Samples a lane owns of a patch that LPC lanes share, in fours too.
#define NPL ((N + LPC - 1) / LPC)
#define NPL4 ((NPL + 3) / 4)
#define FULL 0xffffffffu
#define CLIPPED_BIT 0x80000000u
#define INFINITE __int_as_float(0x7f800000)

#if MPL <= 16
#define UNROLL_ATOMS _Pragma("unroll")
#else
#define UNROLL_ATOMS _Pragma("unroll 1")
#endif
#if NPL <= 16
#define UNROLL_SAMPLES _Pragma("unroll")
#else
#define UNROLL_SAMPLES _Pragma("unroll 1")
#endif

struct Plane {
    i64 samples_at;    // first sample in the fields
    i64 positions_at;  // first position in the maps
    int domain[3];
    int positions[3];
    int first[3];
    int wraps[3];
    int weighted;
    int first_tile;
    int tile_count;
    int wraps_any;
};

struct Tile {
    int plane;
    int shape;
    int neighbours_at;
    int neighbour_count;
    int origin[3];
    int size[3];
    int clipped;  // does a patch of it leave the domain?
    int unused;
};

// Tiles of one size: their needles in the order of the layers.
struct Shape {
    int needles_at;
    int needle_count;
    int layers_at;
    int layer_count;
};

struct __align__(16) Code {
    u32 needle;  // number in the order of the layers
    u32 atom;    // CLIPPED_BIT: some weight of its patch is not 1
    float value;
    float curvature;
};

// The store of a tile: three regions of `capacity` codes. Two take turns, one is for what is being
// found.
struct __align__(16) TileStore {
    Code* codes;
    int capacity;
    int unused;
};

struct KernelArgs {
    const Plane* planes;
    const Tile* tiles;
    const Shape* shapes;
    const u32* needles;  // where the patch of a needle begins in its footprint
    const u32* needle_layers;
    const int* layers;  // first needle of every layer, and the end
    const int* neighbours;
    const float* target;
    const float* weights;
    float* residual;
    const float* position_weights;
    const u32* position_caps;
    float* reach;
    TileStore* stores;
    int* counts;
    int* slot;
    int* wanted;                   // codes that a visit last needed space for
    double* total;                 // all changes of a tile so far
    double* own;                   // its last change
    double* seen;                  // changes of its neighbours when it was last swept
    const float* atoms;            // M x N
    const float4* packed_rows;     // M x NPL4 x LPC: samples as the lanes of a code own them
    const float4* columns;         // N4 x CS: four samples of every atom
    const float* gram;             // M x MS
    const float* atom_weights;     // MS, infinite behind the last
    const float* inverse_weights;  // MS, 0 behind the last
    u64* counters;
    float* scratch;
    i64 scratch_size;
    int tile_count;
    int periodic;
    int nonnegative;
    u32 cap;
    float least_weight;  // of an atom, a little less for rounding
    int weighted;        // is there any weight, or a patch that leaves the domain?
};

// Slots of the counters that the host reads.
enum { COUNTER_CHANGE = 0, COUNTER_VISITED = 1, COUNTER_OVERFLOW = 2, COUNTER_MOVE = 3 };

// Offset of sample p of a patch in a footprint.
__device__ __forceinline__ int patch_offset(int p) {
    int x = p % HX, y = p / HX % HY, z = p / (HX * HY) % HZ, c = p / BOX;
    return c * CHANNEL + z * SLICE + y * ROW + x;
}

// Index along an axis inside the domain, or -1.
__device__ __forceinline__ int inside(int at, int length, int periodic) {
    if (periodic) {
        if (at >= length) at -= length;
        if (at < 0) at += length;
        return at;
    }
    return at >= 0 && at < length ? at : -1;
}

// The domain of a plane, in registers.
struct Domain {
    int depth, height, width, periodic;
    i64 samples_at;
    __device__ __forceinline__ Domain(const KernelArgs& w, const Plane& plane)
        : depth(plane.domain[0]),
          height(plane.domain[1]),
          width(plane.domain[2]),
          periodic(w.periodic),
          samples_at(plane.samples_at) {}

    // Number of a sample in the fields, or -1 outside the domain.
    __device__ __forceinline__ i64 at(int c, int z, int y, int x) const {
        z = inside(z, depth, periodic);
        y = inside(y, height, periodic);
        x = inside(x, width, periodic);
        if ((z | y | x) < 0) return -1;
        return samples_at + ((i64)(c * depth + z) * height + y) * width + x;
    }

    // Number of sample p of the patch at a position.
    __device__ __forceinline__ i64 in_patch(int p, int z, int y, int x) const {
        return at(p / BOX, z + p / (HX * HY) % HZ, y + p / HX % HY, x + p % HX);
    }
};

// Number of a needle in the maps over positions, from where its patch begins in the footprint.
__device__ __forceinline__ i64 position_at(const Plane& plane, const Tile& tile, int offset) {
    int z = offset / SLICE, y = offset % SLICE / ROW, x = offset % ROW;
    z += tile.origin[0] - plane.first[0];
    y += tile.origin[1] - plane.first[1];
    x += tile.origin[2] - plane.first[2];
    return plane.positions_at + ((i64)z * plane.positions[1] + y) * plane.positions[2] + x;
}

__device__ __forceinline__ Code* codes_of(const KernelArgs& w, int tile, int slot) {
    const TileStore store = w.stores[tile];
    return store.codes + (i64)slot * store.capacity;
}

template <int WARPS>
__device__ __forceinline__ void group_sync(int group) {
    if (WARPS == 1)
        __syncwarp();
    else
        asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(WARPS * 32) : "memory");
}

__device__ __forceinline__ float shrink(float z, float threshold, int nonnegative) {
    float size = fmaxf((nonnegative ? z : fabsf(z)) - threshold, 0.0f);
    return nonnegative ? size : copysignf(size, z);
}

__device__ __forceinline__ double warp_sum(double x) {
    for (int s = 16; s; s >>= 1) x += __shfl_xor_sync(FULL, x, s);
    return x;
}

// Sum of the numbers of all lanes up to this one.
__device__ __forceinline__ int warp_scan(int x, int lane) {
    for (int s = 1; s < 32; s <<= 1) {
        const int other = __shfl_up_sync(FULL, x, s);
        if (lane >= s) x += other;
    }
    return x;
}

__device__ __forceinline__ float warp_max(float x) {
    for (int s = 16; s; s >>= 1) x = fmaxf(x, __shfl_xor_sync(FULL, x, s));
    return x;
}

__device__ __forceinline__ u32 warp_max_u32(u32 x) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(FULL, x);
#else
    for (int s = 16; s; s >>= 1) x = max(x, __shfl_xor_sync(FULL, x, s));
    return x;
#endif
}

// Changes of all neighbours so far, added up in one order.
__device__ __forceinline__ double changes_around(const KernelArgs& w, const Tile& tile, int lane) {
    double sum = 0.0;
    for (int i = lane; i < tile.neighbour_count; i += 32)
        sum += w.total[w.neighbours[tile.neighbours_at + i]];
    return warp_sum(sum);
}
