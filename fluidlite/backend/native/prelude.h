/* What every generated kernel begins with: how it finds arrays, and functions of single elements.

   No header of Python or NumPy is needed: of a tuple and an array only the places of their fields
   are used, which setup() is told and a probe has tried before.  What functions give stands in an
   enumeration before this, which follows from Python's. */
typedef long long i64;
typedef unsigned char u8;
typedef struct object PyObject;

static i64 items_at, head_size;  /* of a tuple and of an object, in bytes */
static void *array_type;

void setup(i64 items, i64 head, void *type) {
  items_at = items;
  head_size = head;
  array_type = type;
}

#define ITEM(args, k) (((char **)((char *)(args) + items_at))[k])
/* the fields of an array: data, ndim, dimensions, strides, base, type of elements, flags */
#define FIELD(array, k) (((char **)((array) + head_size))[k])
#define DATA(args, k) FIELD(ITEM(args, k), 0)

static inline i64 elements(PyObject *args, int k) {
  char *array = ITEM(args, k);
  i64 found = 1, *sizes = (i64 *)FIELD(array, 2);
  for (int d = 0, n = *(int *)((char *)&FIELD(array, 1)); d < n; d++) found *= sizes[d];
  return found;
}

/* whether all are arrays that lie one element behind the other, and those from a number on writable */
static inline int are_arrays(PyObject *args, int count, int outputs) {
  for (int k = 0; k < count; k++) {
    char *array = ITEM(args, k);
    if (*(void **)(array + head_size - 8) != array_type) return 0;
    int wanted = k < outputs ? 0x101 : 0x501;
    if ((*(int *)&FIELD(array, 6) & wanted) != wanted) return 0;
  }
  return 1;
}

i64 probe(PyObject *args) {
  return are_arrays(args, 1, 0) ? elements(args, 0) * 1000 + ((u8 *)DATA(args, 0))[0] : -1;
}

/* blocks of a kernel that the threads of OpenMP take, and what starts those: GOMP_parallel */
struct work {
  PyObject *args;
  i64 next;
  int bad;
};
typedef void (*parallel_function)(void (*)(void *), void *, unsigned, unsigned);

#define EACH static inline __attribute__((always_inline))

#ifdef __FMA__
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif

/* of a function: a product and a sum may be computed at once, which rounds less */
#ifdef __clang__
#define CONTRACTED
#define CONTRACT _Pragma("clang fp contract(fast)")
#else
#define CONTRACTED __attribute__((optimize("fp-contract=fast")))
#define CONTRACT
#endif

EACH float as_float(int bits) {
  union { int i; float f; } u;
  u.i = bits;
  return u.f;
}

EACH int as_bits(float value) {
  union { int i; float f; } u;
  u.f = value;
  return u.i;
}

/* e^x: a power of two, and a polynomial for what is left, at most ln(2) / 2 in size */
EACH float exp_f(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  float n = __builtin_rintf(x * 0x1.715476p+0f);
  float r = FMA(n, -0x1.62e4p-1f, x);
  r = FMA(n, -0x1.7f7d1c0000000p-20f, r);
  float q = 0x1.6a234ep-10f;
  q = FMA(q, r, 0x1.123a6cp-7f);
  q = FMA(q, r, 0x1.5558f4p-5f);
  q = FMA(q, r, 0x1.55549p-3f);
  q = FMA(q, r, 0x1.fffffcp-2f);
  float y = FMA(q * r, r, r) + 1.0f;
  n = n == n ? n : 0.0f;
  int whole = (int)n, half = whole >> 1;
  return y * as_float((half + 127) << 23) * as_float((whole - half + 127) << 23);
}

/* e^x - 1 */
EACH float expm1_f(float x) {
  float q = 0x1.a0495p-13f;
  q = FMA(q, x, 0x1.6f03acp-10f);
  q = FMA(q, x, 0x1.11134cp-7f);
  q = FMA(q, x, 0x1.55525ep-5f);
  q = FMA(q, x, 0x1.555552p-3f);
  q = FMA(q, x, 0x1.000002p-1f);
  float near = FMA(q * x, x, x), far = exp_f(x) - 1.0f;
  return __builtin_fabsf(x) < 0.5f ? (x == 0.0f ? x : near) : far;
}

/* the natural logarithm: of a power of two, and of what is left, between sqrt(1/2) and sqrt(2) */
EACH float log_f(float x) {
  int small = x < 0x1p-126f;
  float scaled = small ? x * 0x1p23f : x;
  int bits = as_bits(scaled) - 0x3f3504f3;
  int exponent = bits >> 23;
  float f = as_float((bits & 0x7fffff) + 0x3f3504f3) - 1.0f;
  float p = 0x1.14573ep-4f;
  p = FMA(p, f, -0x1.de3bf8p-4f);
  p = FMA(p, f, 0x1.e6f08cp-4f);
  p = FMA(p, f, -0x1.fc220ep-4f);
  p = FMA(p, f, 0x1.233766p-3f);
  p = FMA(p, f, -0x1.555c4ep-3f);
  p = FMA(p, f, 0x1.99a4b6p-3f);
  p = FMA(p, f, -0x1.000006p-2f);
  p = FMA(p, f, 0x1.555548p-2f);
  float n = (float)(small ? exponent - 23 : exponent);
  float square = f * f;
  float tail = FMA(p * f, square, n * 0x1.7f7d1c0000000p-20f);
  tail = FMA(-0.5f, square, tail);
  float y = FMA(n, 0x1.62e4p-1f, f + tail);
  y = x == 0.0f ? -__builtin_inff() : y;
  y = x < 0.0f ? __builtin_nanf("") : y;
  return x < __builtin_inff() ? y : (x != x || x > 0.0f ? x : y);
}

/* ln(1 + x): the logarithm of the rounded sum, and what rounding took from it */
EACH float log1p_f(float x) {
  float u = 1.0f + x, y = log_f(u), lost = (x - (u - 1.0f)) / u;
  y = u > 0.0f && u < __builtin_inff() ? y + lost : y;
  return x == 0.0f ? x : y;
}

EACH float tanh_f(float x) {
  float size = __builtin_fabsf(x), s = x * x;
  float p = -0x1.6f41eep-8f;
  p = FMA(p, s, 0x1.50b82p-6f);
  p = FMA(p, s, -0x1.b806a4p-5f);
  p = FMA(p, s, 0x1.1105a2p-3f);
  p = FMA(p, s, -0x1.55552cp-2f);
  float near = FMA(p * s, x, x);
  float far = 1.0f - 2.0f / (exp_f(2.0f * size) + 1.0f);
  far = x < 0.0f ? -far : far;
  return size < 0.625f ? (x == 0.0f ? x : near) : far;
}

/* the error function: odd, and 1 - e^-(t p(t)) outside */
EACH float erf_f(float x) {
  float size = __builtin_fabsf(x), s = x * x;
  float p = 0x1.4ae4c6p-14f;
  p = FMA(p, s, -0x1.a485e8p-11f);
  p = FMA(p, s, 0x1.5419f4p-8f);
  p = FMA(p, s, -0x1.b7fbb4p-6f);
  p = FMA(p, s, 0x1.ce2d2p-4f);
  p = FMA(p, s, -0x1.81273ep-2f);
  p = FMA(p, s, 0x1.06eba8p-3f);
  float near = FMA(p, x, x);
  float t = size > 4.0f ? 4.0f : size;
  float q = 0x1.6379d2p-18f;
  q = FMA(q, t, -0x1.a2ee6p-15f);
  q = FMA(q, t, -0x1.cc4906p-16f);
  q = FMA(q, t, 0x1.780fbap-9f);
  q = FMA(q, t, -0x1.71e0fep-6f);
  q = FMA(q, t, 0x1.aec6360000000p-4f);
  q = FMA(q, t, 0x1.4576f4p-1f);
  q = FMA(q, t, 0x1.20e818p+0f);
  float far = 1.0f - exp_f(-t * q);
  far = x < 0.0f ? -far : far;
  return size < 1.0f ? (x == 0.0f ? x : near) : far;
}

/* Command buffers: calls of kernels, one after the other.  Each takes a tuple of arrays, of which
   only the items are there; those that change from run to run are put in first. */
struct command {
  int (*function)(PyObject *, void *);
  PyObject *args;
  void *context;
};
struct patch {
  char **place;
  i64 from;
};
struct commands {
  i64 count;
  struct command *list;
  i64 patches;
  struct patch *places;
  i64 given, outputs; /* of the arrays that are given, those looked at; the first that is written */
  const int *threads; /* how many a library has, or null */
  i64 made_for;       /* the number of them that commands were recorded for */
};

int run_commands(PyObject *given, struct commands *buffer) {
  if (!buffer->list || (buffer->threads && *buffer->threads != buffer->made_for)) return NOT_RECORDED;
  if (!are_arrays(given, buffer->given, buffer->outputs)) return UNFIT;
  for (i64 k = 0; k < buffer->patches; k++)
    *buffer->places[k].place = ITEM(given, buffer->places[k].from);
  for (i64 k = 0; k < buffer->count; k++) {
    struct command *command = &buffer->list[k];
    int status = command->function(command->args, command->context);
    if (status) return status == DECLINED ? DECLINED : FAILED;
  }
  return DONE;
}

/* a primitive of oneDNN, with the functions of the library that give it its memory and run it */
struct primitive {
  int (*set_data)(void *, void *);
  int (*execute)(void *, void *, int, void *);
  void *primitive, *stream;
  i64 count;
  void *list;
  i64 arrays;
  void **memories;
};

int run_primitive(PyObject *args, struct primitive *it) {
  for (i64 k = 0; k < it->arrays; k++) it->set_data(it->memories[k], DATA(args, k));
  return it->execute(it->primitive, it->stream, (int)it->count, it->list) ? FAILED : DONE;
}
