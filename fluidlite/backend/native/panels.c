/* Large matrices: some columns at a time, so many as two vectors have, from which products with what
   is there already are taken in registers.  Before this stands T, the type of an element.  What has
   no finite result is left to LAPACK. */
#ifdef __AVX512F__
enum { BYTES = 64, R = 8 };
#elif defined(__AVX__)
enum { BYTES = 32, R = 4 };
#else
enum { BYTES = 16, R = 4 };
#endif
typedef T V __attribute__((vector_size(BYTES), aligned(sizeof(T))));
typedef I M __attribute__((vector_size(BYTES)));
enum { W = BYTES / sizeof(T), C = 2 * W };

#define DIMENSIONS(args, k) (*(int *)((char *)&FIELD(ITEM(args, k), 1)))
#define SIZE(args, k, d) (((i64 *)FIELD(ITEM(args, k), 2))[DIMENSIONS(args, k) + (d)])
#define FLAG(args, k, d) (((const i64 *)DATA(args, k))[d])
#define SHARED(a, b, mask) (V)(((M)(a) & (mask)) | ((M)(b) & ~(mask)))
#define SIZE_OF(x) (V)((M)(x) & ~((M)(V){0} | (I)(1ull << (8 * sizeof(T) - 1))))
#define VECTOR(x, h) (*(V *)((x) + (h) * W))

/* a matrix as it is read: where its first element is, and how far the next ones are */
struct view {
  const T *at;
  i64 down, across;
};

/* what is worked in: a panel between rows of zeros, rows that fill no tile, parts of a diagonal */
struct space {
  T *panel, *tail, *parts, *square, *turned, *rest;
};

static struct space space_of(PyObject *args, int k, i64 n) {
  T *at = (T *)(((i64)DATA(args, k) + 63) & -64);
  struct space it = {at + R * C, at + (n + 2 * R) * C, 0, 0, 0, 0};
  it.square = it.tail + (n + R) * R;
  it.turned = it.square + C * C;
  it.parts = it.turned + C * (n + 4 * W);
  it.rest = (T *)(((i64)(it.parts + n + R) + 63) & -64);
  for (i64 e = 0; e < R * C; e++) at[e] = it.panel[n * C + e] = 0;
  return it;
}

static struct view turned_if(const T *a, i64 columns, i64 turned) {
  return (struct view){a, turned ? 1 : columns, turned ? columns : 1};
}

/* the same matrix, its rows and columns in opposite order */
static struct view reversed(struct view a, i64 n) {
  return (struct view){a.at + (n - 1) * (a.down + a.across), -a.down, -a.across};
}

EACH void gather(T *panel, struct view x, i64 rows, i64 columns, const int *order) {
  for (i64 i = 0; i < rows; i++, panel += C) {
    const T *row = x.at + (order ? order[i] : i) * x.down;
    for (i64 c = columns; c < C; c++) panel[c] = 0;
    if (x.across == 1)
      for (i64 c = 0; c < columns; c++) panel[c] = row[c];
    else
      for (i64 c = 0; c < columns; c++) panel[c] = row[c * x.across];
  }
}

EACH void scatter(T *out, i64 down, i64 across, const T *panel, i64 rows, i64 columns, const int *order) {
  for (i64 i = 0; i < rows; i++, panel += C) {
    T *row = out + (order ? order[i] : i) * down;
    if (across == 1)
      for (i64 c = 0; c < columns; c++) row[c] = panel[c];
    else
      for (i64 c = 0; c < columns; c++) row[c * across] = panel[c];
  }
}

/* from rows of a panel, the products of so many columns of A with other rows of it */
EACH void subtract_products(V tile[R][2], const T *a, i64 down, i64 across, const T *b, i64 next, i64 depth) {
  const T *other = a + 4 * down;
  for (i64 k = 0; k < depth; k++, b += next, a += across, other += across) {
    const V left = VECTOR(b, 0), right = VECTOR(b, 1);
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) {
      const T x = (r < 4 ? a : other)[(r & 3) * down];
      tile[r][0] -= x * left;
      tile[r][1] -= x * right;
    }
  }
}

/* from rows of C numbers, those of the product of A and b */
CONTRACTED static void subtract_product(T *out, struct view a, const T *b, i64 next, i64 rows, i64 depth) {
  CONTRACT
  for (i64 i = 0; i < rows; i += R, out += R * C) {
    V tile[R][2];
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) tile[r][0] = VECTOR(out + r * C, 0), tile[r][1] = VECTOR(out + r * C, 1);
    subtract_products(tile, a.at + i * a.down, a.down, a.across, b, next, depth);
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) VECTOR(out + r * C, 0) = tile[r][0], VECTOR(out + r * C, 1) = tile[r][1];
  }
}

/* What a triangle of A, on its diagonal and below, is multiplied by to give a panel, in its place:
   the first rows of it.  From the others go their products with those.

   parts: 1 / the diagonal, none where that is ones.  next: from row to row of the panel.  first:
   before which row the panel is zero, a multiple of R; as is solved, but where it is all. */
CONTRACTED static void sweep(struct view a, const T *parts, T *b, i64 next, i64 rows, i64 first,
                             i64 solved, T *tail) {
  CONTRACT
  for (i64 i = first; i < rows; i += R) {
    const T *at = a.at + i * a.down;
    i64 down = a.down, across = a.across, depth = i < solved ? i : solved;
    if (rows - i < R) {
      i64 end = i < solved ? i + R : solved;
      for (i64 k = first; k < end; k++)
        for (i64 r = 0; r < R; r++)
          tail[k * R + r] = i + r < rows && k < rows ? at[r * down + k * across] : 0;
      at = tail, down = 1, across = R;
    }
    V tile[R][2];
    T *here = b + i * next;
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) tile[r][0] = VECTOR(here + r * next, 0), tile[r][1] = VECTOR(here + r * next, 1);
    subtract_products(tile, at + first * across, down, across, b + first * next, next, depth - first);
    if (i < solved) {
      const T *corner = at + i * across;
#pragma GCC unroll 8
      for (int r = 0; r < R; r++) {
        if (parts) tile[r][0] *= parts[i + r], tile[r][1] *= parts[i + r];
#pragma GCC unroll 8
        for (int s = r + 1; s < R; s++) {
          const T x = corner[s * down + r * across];
          tile[s][0] -= x * tile[r][0];
          tile[s][1] -= x * tile[r][1];
        }
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) VECTOR(here + r * next, 0) = tile[r][0], VECTOR(here + r * next, 1) = tile[r][1];
  }
}

/* the same for a triangle on the diagonal and above */
static void sweep_up(struct view a, const T *parts, T *b, i64 n, T *tail) {
  sweep(reversed(a, n), parts, b + (n - 1) * C, -C, n, 0, n, tail);
}

static const T *parts_of(T *parts, struct view a, i64 n) {
  for (i64 i = 0; i < n + R; i++) parts[i] = i < n ? 1 / a.at[i * (a.down + a.across)] : 1;
  return parts;
}

static int are_finite(const T *x, i64 count) {
  T lost[C] = {0};
  i64 e = 0;
  for (; e + C <= count; e += C)
    for (i64 c = 0; c < C; c++) lost[c] += x[e + c] * 0;
  for (; e < count; e++) lost[0] += x[e] * 0;
  for (i64 c = 0; c < C; c++)
    if (lost[c] != 0) return 0;
  return 1;
}

/* where each row was before rows were exchanged; whether they may be */
static int ordered(int *order, const int *pivots, i64 count, i64 rows) {
  for (i64 i = 0; i < rows; i++) order[i] = (int)i;
  for (i64 i = 0; i < count; i++) {
    i64 other = (i64)pivots[i] - 1;
    if (other < 0 || other >= rows) return 0;
    int kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  return 1;
}

/* A, B, (turned, upper, unit, whether B is turned), space -> what the triangle of A, once turned, is
   multiplied by to give B */
static int triangular_solve(PyObject *args) {
  i64 n = SIZE(args, 0, -1), columns = SIZE(args, 4, -1);
  i64 upper = FLAG(args, 2, 1), unit = FLAG(args, 2, 2);
  struct space in = space_of(args, 3, n);
  T *out = (T *)DATA(args, 4);
  for (i64 m = 0, count = elements(args, 0) / (n * n); m < count; m++) {
    struct view a = turned_if((T *)DATA(args, 0) + m * n * n, n, FLAG(args, 2, 0));
    struct view b = {(T *)DATA(args, 1) + m * n * columns, columns, 1};
    if (FLAG(args, 2, 3)) b.down = 1, b.across = n;
    const T *parts = unit ? 0 : parts_of(in.parts, upper ? reversed(a, n) : a, n);
    for (i64 j = 0; j < columns; j += C) {
      i64 width = columns - j < C ? columns - j : C;
      gather(in.panel, (struct view){b.at + j * b.across, b.down, b.across}, n, width, 0);
      if (upper) sweep_up(a, parts, in.panel, n, in.tail);
      else sweep(a, parts, in.panel, C, n, 0, n, in.tail);
      scatter(out + m * n * columns + j, columns, 1, in.panel, n, width, 0);
    }
  }
  return are_finite(out, elements(args, 4)) ? DONE : DECLINED;
}

/* X, (turned), space -> the lower triangle whose product with its transpose it is */
CONTRACTED static int cholesky(PyObject *args) {
  CONTRACT
  i64 n = SIZE(args, 0, -1);
  struct space in = space_of(args, 2, n);
  for (i64 m = 0, count = elements(args, 0) / (n * n); m < count; m++) {
    struct view x = turned_if((T *)DATA(args, 0) + m * n * n, n, FLAG(args, 1, 0));
    T *out = (T *)DATA(args, 3) + m * n * n;
    for (i64 j = 0; j < n; j += C) {
      i64 width = n - j < C ? n - j : C;
      const T *begin = x.at + j * x.down;
      gather(in.panel, (struct view){begin, x.across, x.down}, j, width, 0);
      sweep((struct view){out, n, 1}, in.parts, in.panel, C, j, 0, j, in.tail);
      scatter(out + j * n, 1, n, in.panel, j, width, 0);
      for (i64 r = 0; r < C; r++)
        for (i64 c = r; c < C; c++)
          in.square[r * C + c] = c < width ? begin[c * x.down + (j + r) * x.across] : r == c;
      subtract_product(in.square, (struct view){in.panel, 1, C}, in.panel, C, C, j);
      for (i64 k = 0; k < C; k++) {
        T *row = in.square + k * C;
        if (!(row[k] > 0)) return DECLINED;
        T part = 1 / (sizeof(T) == 4 ? __builtin_sqrtf(row[k]) : __builtin_sqrt(row[k]));
        if (k < width) in.parts[j + k] = part;
        VECTOR(row, 0) *= part, VECTOR(row, 1) *= part;
        for (i64 i = k + 1; i < C; i++) {
          T *other = in.square + i * C;
          VECTOR(other, 0) -= row[i] * VECTOR(row, 0), VECTOR(other, 1) -= row[i] * VECTOR(row, 1);
        }
      }
      for (i64 r = 0; r < width; r++) {
        T *row = out + (j + r) * n + j;
        for (i64 c = 0; c <= r; c++) row[c] = in.square[c * C + r];
        for (i64 c = r + 1; c < n - j; c++) row[c] = 0;
      }
    }
  }
  return are_finite((T *)DATA(args, 3), elements(args, 3)) ? DONE : DECLINED;
}

EACH void exchange(T *x, T *y, i64 count, i64 next) {
  for (i64 j = 0; j < count; j++) {
    T kept = x[j * next];
    x[j * next] = y[j * next];
    y[j * next] = kept;
  }
}

/* the first of the largest numbers of a column, from row k on */
EACH i64 largest(const T *x, i64 k, i64 rows) {
  V most = {0};
  i64 i = k;
  for (; i + W <= rows; i += W) {
    V size = SIZE_OF(VECTOR(x + i, 0));
    most = SHARED(size, most, (M)(size > most));
  }
  T top = 0;
  for (i64 l = 0; l < W; l++) top = most[l] > top ? most[l] : top;
  for (; i < rows; i++) top = x[i] > top ? x[i] : -x[i] > top ? -x[i] : top;
  for (i = k; i < rows; i++)
    if (x[i] == top || x[i] == -top) break;
  return i;
}

/* L and U of a panel whose columns lie one after the other, in its place; the rows are exchanged in
   the whole matrix, too */
CONTRACTED static int factored(T *b, i64 next, i64 rows, i64 width, i64 all, T *whole, i64 columns,
                               int *pivots, i64 at) {
  CONTRACT
  for (i64 k = 0; k < all; k++) {
    T *own = b + k * next;
    i64 steps = k < rows ? k : rows;
    steps = steps < width ? steps : width;
    for (i64 p = 0; p < steps; p++)
      for (i64 i = p + 1; i < steps; i++) own[i] -= own[p] * b[p * next + i];
    for (i64 i = steps; i < rows; i += 4 * W) {
      V sums[4];
      for (int h = 0; h < 4; h++) sums[h] = VECTOR(own + i, h);
      for (i64 p = 0; p < steps; p++)
        for (int h = 0; h < 4; h++) sums[h] -= own[p] * VECTOR(b + p * next + i, h);
      for (int h = 0; h < 4; h++) VECTOR(own + i, h) = sums[h];
    }
    if (k >= width || k >= rows) continue;
    i64 from = largest(own, k, rows);
    if (from == rows || own[from] == 0) return DECLINED;
    pivots[at + k] = (int)(at + from + 1);
    if (from != k) {
      exchange(b + k, b + from, all, next);
      exchange(whole + (at + k) * columns, whole + (at + from) * columns, columns, 1);
    }
    T part = 1 / own[k];
    for (i64 i = k + 1; i < rows; i++) own[i] *= part;
  }
  return DONE;
}

/* X, (turned), space -> L and U, the rows that were exchanged, counted from 1 */
static int lu(PyObject *args) {
  i64 rows = SIZE(args, 3, -2), columns = SIZE(args, 3, -1), least = rows < columns ? rows : columns;
  struct space in = space_of(args, 2, rows);
  for (i64 m = 0, count = elements(args, 3) / (rows * columns); m < count; m++) {
    struct view x = {(T *)DATA(args, 0) + m * rows * columns, columns, 1};
    T *out = (T *)DATA(args, 3) + m * rows * columns;
    int *pivots = (int *)DATA(args, 4) + m * least;
    i64 next = rows + 4 * W;
    if (FLAG(args, 1, 0)) x.down = 1, x.across = rows;
    for (i64 i = 0; i < rows; i++)
      for (i64 j = 0; j < columns; j++) out[i * columns + j] = x.at[i * x.down + j * x.across];
    for (i64 j = 0; j < columns; j += C) {
      i64 width = columns - j < C ? columns - j : C, before = j < least ? j : least;
      struct view a = {out, columns, 1};
      gather(in.panel, (struct view){out + j, columns, 1}, rows, width, 0);
      sweep(a, 0, in.panel, C, rows, 0, before, in.tail);
      i64 left = least - before < width ? least - before : width;
      scatter(out + j, columns, 1, in.panel, before, width, 0);
      i64 below = rows - before;
      for (i64 i = 0; i < below; i++)
        for (i64 c = 0; c < width; c++) in.turned[c * next + i] = in.panel[(before + i) * C + c];
      for (i64 c = 0; c < width; c++)
        for (i64 i = below; i < below + 4 * W; i++) in.turned[c * next + i] = 0;
      int status = factored(in.turned, next, below, left, width, out, columns, pivots, before);
      if (status) return status;
      for (i64 i = 0; i < below; i++)
        for (i64 c = 0; c < width; c++) out[(before + i) * columns + j + c] = in.turned[c * next + i];
    }
  }
  return are_finite((T *)DATA(args, 3), elements(args, 3)) ? DONE : DECLINED;
}

/* L and U, the rows that were exchanged, B, (turned, transpose), space -> what the matrix, or its
   transpose, is multiplied by to give B */
static int solve_by_factors(PyObject *args) {
  i64 n = SIZE(args, 0, -1), columns = SIZE(args, 2, -1), transpose = FLAG(args, 3, 1);
  struct space in = space_of(args, 4, n);
  T *out = (T *)DATA(args, 5);
  int order[n];
  for (i64 m = 0, count = elements(args, 0) / (n * n); m < count; m++) {
    struct view a = turned_if((T *)DATA(args, 0) + m * n * n, n, transpose != FLAG(args, 3, 0));
    const T *b = (T *)DATA(args, 2) + m * n * columns;
    if (!ordered(order, (int *)DATA(args, 1) + m * n, n, n)) return DECLINED;
    const T *parts = parts_of(in.parts, transpose ? a : reversed(a, n), n);
    for (i64 j = 0; j < columns; j += C) {
      i64 width = columns - j < C ? columns - j : C;
      gather(in.panel, (struct view){b + j, columns, 1}, n, width, transpose ? 0 : order);
      sweep(a, transpose ? parts : 0, in.panel, C, n, 0, n, in.tail);
      sweep_up(a, transpose ? 0 : parts, in.panel, n, in.tail);
      scatter(out + m * n * columns + j, columns, 1, in.panel, n, width, transpose ? order : 0);
    }
  }
  return are_finite(out, elements(args, 5)) ? DONE : DECLINED;
}

/* L and U, the rows that were exchanged, (turned, whether the result is), space -> the inverse */
static int inv_by_factors(PyObject *args) {
  i64 n = SIZE(args, 0, -1);
  struct space in = space_of(args, 3, n);
  T *out = (T *)DATA(args, 4);
  int order[n];
  for (i64 m = 0, count = elements(args, 0) / (n * n); m < count; m++) {
    struct view a = turned_if((T *)DATA(args, 0) + m * n * n, n, FLAG(args, 2, 0));
    struct view result = turned_if(out + m * n * n, n, FLAG(args, 2, 1));
    if (!ordered(order, (int *)DATA(args, 1) + m * n, n, n)) return DECLINED;
    const T *parts = parts_of(in.parts, reversed(a, n), n);
    for (i64 j = 0; j < n; j += C) {
      i64 width = n - j < C ? n - j : C;
      for (i64 e = 0; e < n * C; e++) in.panel[e] = 0;
      for (i64 c = 0; c < width; c++) in.panel[(j + c) * C + c] = 1;
      sweep(a, 0, in.panel, C, n, j, n, in.tail);
      sweep_up(a, parts, in.panel, n, in.tail);
      for (i64 i = 0; i < n; i++)
        for (i64 c = 0; c < width; c++)
          ((T *)result.at)[i * result.down + order[j + c] * result.across] = in.panel[i * C + c];
    }
  }
  return are_finite(out, elements(args, 4)) ? DONE : DECLINED;
}

/* (1 - V S V') b in the place of b, with S or its transpose for `inner` */
static void reflect(T *b, const T *v, i64 columns, i64 rows, struct view inner, T *square) {
  T *other = square + C * C;
  for (i64 e = 0; e < 2 * C * C; e++) square[e] = 0;
  subtract_product(square, (struct view){v, 1, columns}, b, C, C, rows);
  subtract_product(other, inner, square, C, C, C);
  subtract_product(b, (struct view){v, columns, 1}, other, C, rows, C);
}

EACH T dot(const T *x, const T *y, i64 count) {
  V sums[2] = {{0}, {0}};
  T sum = 0;
  i64 i = 0;
  for (; i + C <= count; i += C)
    for (int h = 0; h < 2; h++) sums[h] += VECTOR(x + i, h) * VECTOR(y + i, h);
  for (; i < count; i++) sum += x[i] * y[i];
  for (i64 l = 0; l < W; l++) sum += sums[0][l] + sums[1][l];
  return sum;
}

/* Reflections that make a triangle of columns that lie one after the other: below the diagonal, with
   ones on it, stands V, and `diagonal` has that of the triangle.  The signs are LAPACK's. */
CONTRACTED static int reflected(T *b, i64 next, i64 rows, i64 width, i64 all, T *scales, T *diagonal) {
  CONTRACT
  for (i64 k = 0; k < width; k++) {
    T *own = b + k * next + k, head = own[0];
    i64 below = rows - k - 1;
    T square = dot(own + 1, own + 1, below), size = 0;
    scales[k] = 0;
    diagonal[k] = head;
    if (!(square >= LEAST)) { /* too small to say how long it is, if it is not zero */
      for (i64 i = 1; i <= below; i++)
        if (own[i] != 0) return DECLINED;
    } else {
      size = sizeof(T) == 4 ? __builtin_sqrtf(head * head + square) : __builtin_sqrt(head * head + square);
      T end = head >= 0 ? -size : size, part = 1 / (head - end);
      scales[k] = (end - head) / end;
      diagonal[k] = end;
      for (i64 i = 1; i <= below; i++) own[i] *= part;
    }
    own[0] = 1;
    for (i64 c = k + 1; c < all; c++) {
      T *other = b + c * next + k, factor = scales[k] * dot(own, other, below + 1);
      for (i64 i = 0; i <= below; i++) other[i] -= factor * own[i];
    }
  }
  return DONE;
}

/* the triangle S for which the product of reflections is 1 - V S V' */
static void joined(T *s, const T *scales, const T *v, i64 columns, i64 rows, T *square) {
  for (i64 e = 0; e < C * C; e++) s[e] = square[e] = 0;
  subtract_product(square, (struct view){v, 1, columns}, v, columns, C, rows);
  for (i64 k = 0; k < C; k++) {
    s[k * C + k] = scales[k];
    for (i64 i = 0; i < k; i++) {
      T sum = 0;
      for (i64 p = i; p < k; p++) sum += s[i * C + p] * square[p * C + k];
      s[i * C + k] = scales[k] * sum;
    }
  }
}

/* X, (turned), space -> Q and R */
static int qr(PyObject *args) {
  i64 rows = SIZE(args, 3, -2), least = SIZE(args, 3, -1), columns = SIZE(args, 4, -1);
  i64 across = (least + C - 1) / C * C, next = rows + 4 * W;
  struct space in = space_of(args, 2, rows);
  T *square = in.rest, *joints = square + 2 * C * C, *v = joints + across * C, scales[C], diagonal[C];
  for (i64 m = 0, count = elements(args, 3) / (rows * least); m < count; m++) {
    struct view x = {(T *)DATA(args, 0) + m * rows * columns, columns, 1};
    T *q = (T *)DATA(args, 3) + m * rows * least, *out = (T *)DATA(args, 4) + m * least * columns;
    if (FLAG(args, 1, 0)) x.down = 1, x.across = rows;
    for (i64 e = 0; e < (rows + R) * across; e++) v[e] = 0;
    for (i64 j = 0; j < columns; j += C) {
      i64 width = columns - j < C ? columns - j : C, before = j < least ? j : least;
      i64 left = least - before < width ? least - before : width, below = rows - before;
      gather(in.panel, (struct view){x.at + j * x.across, x.down, x.across}, rows, width, 0);
      for (i64 p = 0; p < before; p += C)
        reflect(in.panel + p * C, v + p * across + p, across, rows - p,
                (struct view){joints + p * C, 1, C}, square);
      scatter(out + j, columns, 1, in.panel, before, width, 0);
      if (!left) continue;
      for (i64 i = 0; i < below; i++)
        for (i64 c = 0; c < width; c++) in.turned[c * next + i] = in.panel[(before + i) * C + c];
      if (reflected(in.turned, next, below, left, width, scales, diagonal)) return DECLINED;
      for (i64 c = left; c < C; c++) scales[c] = 0;
      for (i64 i = 0; i < below; i++)
        for (i64 c = 0; c < left && c <= i; c++)
          v[(before + i) * across + j + c] = in.turned[c * next + i];
      joined(joints + j * C, scales, v + j * across + j, across, below, square);
      for (i64 i = before; i < least; i++)
        for (i64 c = 0; c < width; c++)
          out[i * columns + j + c] = c > i - before ? in.turned[c * next + i - before]
                                     : c == i - before ? diagonal[c] : 0;
    }
    for (i64 j = 0; j < least; j += C) {
      for (i64 e = 0; e < rows * C; e++) in.panel[e] = 0;
      for (i64 c = 0; c < C && j + c < rows; c++) in.panel[(j + c) * C + c] = 1;
      for (i64 p = j; p >= 0; p -= C)
        reflect(in.panel + p * C, v + p * across + p, across, rows - p,
                (struct view){joints + p * C, C, 1}, square);
      scatter(q + j, least, 1, in.panel, rows, least - j < C ? least - j : C, 0);
    }
  }
  i64 there = are_finite((T *)DATA(args, 3), elements(args, 3));
  return there && are_finite((T *)DATA(args, 4), elements(args, 4)) ? DONE : DECLINED;
}
