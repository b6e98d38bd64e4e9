/* Stacks of small matrices: each lane of a vector has a matrix of its own, so that all of them take
   the same steps at once.  Before this stand T, the type of an element, and I, an integer of its
   size.  What has no finite result is left to LAPACK. */
typedef T V __attribute__((vector_size(64)));
typedef I M __attribute__((vector_size(64)));
enum { W = 64 / sizeof(T) };

#define SIZE(args, k, d) (((i64 *)FIELD(ITEM(args, k), 2))[DIMENSIONS(args, k) + (d)])
#define DIMENSIONS(args, k) (*(int *)((char *)&FIELD(ITEM(args, k), 1)))
#define FLAG(args, k, d) (((const i64 *)DATA(args, k))[d])
#define SHARED(a, b, mask) (V)(((M)(a) & (mask)) | ((M)(b) & ~(mask)))
#define SIZE_OF(x) (V)((M)(x) & ~((M)(V){0} | (I)(1ull << (8 * sizeof(T) - 1))))

/* matrices of a stack from one on; behind the last one comes the last one again */
EACH void load(V *a, const T *x, i64 first, i64 count, i64 rows, i64 columns, i64 turned) {
  const T *lanes[W];
  for (i64 l = 0; l < W; l++)
    lanes[l] = x + (first + l < count ? first + l : count - 1) * rows * columns;
  if (!turned)
    for (i64 e = 0; e < rows * columns; e++)
      for (i64 l = 0; l < W; l++) a[e][l] = lanes[l][e];
  else
    for (i64 i = 0; i < rows; i++)
      for (i64 j = 0; j < columns; j++)
        for (i64 l = 0; l < W; l++) a[i * columns + j][l] = lanes[l][j * rows + i];
}

/* whether all that was stored is finite */
EACH int store(T *x, const V *a, i64 first, i64 count, i64 size) {
  i64 there = count - first < W ? count - first : W;
  V lost = {0};
  for (i64 e = 0; e < size; e++) lost += a[e] * 0;
  for (i64 l = 0; l < there; l++)
    for (i64 e = 0; e < size; e++) x[(first + l) * size + e] = a[e][l];
  for (i64 l = 0; l < there; l++)
    if (lost[l] != 0) return 0;
  return 1;
}

EACH void exchange(V *x, i64 i, i64 j, i64 lane) {
  T kept = x[i][lane];
  x[i][lane] = x[j][lane];
  x[j][lane] = kept;
}

/* bring the largest number of column k, from row k on, to row k; gives where it was */
EACH M exchanged(V *a, i64 k, i64 rows, i64 columns) {
  V most = SIZE_OF(a[k * columns + k]);
  M from = (M)(V){0} + (I)k;
  for (i64 i = k + 1; i < rows; i++) {
    V size = SIZE_OF(a[i * columns + k]);
    M more = (M)(size > most);
    most = SHARED(size, most, more);
    from = (((M)(V){0} + (I)i) & more) | (from & ~more);
  }
  for (i64 l = 0; l < W; l++)
    if (from[l] != k)
      for (i64 j = 0; j < columns; j++) exchange(a, k * columns + j, from[l] * columns + j, l);
  return from;
}

EACH void subtract(V *x, V factor, const V *y, i64 from, i64 to) {
  for (i64 j = from; j < to; j++) x[j] -= factor * y[j];
}

/* L and U in the place of a matrix, and the rows that were exchanged */
EACH void factored(V *a, M *pivots, i64 rows, i64 columns) {
  for (i64 k = 0; k < rows && k < columns; k++) {
    pivots[k] = exchanged(a, k, rows, columns);
    V part = 1 / a[k * columns + k];
    for (i64 i = k + 1; i < rows; i++) {
      V *row = a + i * columns;
      row[k] *= part;
      subtract(row, row[k], a + k * columns, k + 1, columns);
    }
  }
}

/* what a triangle is multiplied by to give b, in its place: a[i * down + k * across] */
EACH void substituted(const V *a, i64 down, i64 across, V *b, i64 n, i64 columns, i64 upper, i64 unit) {
  for (i64 step = 0; step < n; step++) {
    i64 k = upper ? n - 1 - step : step;
    V *row = b + k * columns;
    if (!unit) {
      V part = 1 / a[k * down + k * across];
      for (i64 j = 0; j < columns; j++) row[j] *= part;
    }
    for (i64 i = upper ? 0 : k + 1; i < (upper ? k : n); i++)
      subtract(b + i * columns, a[i * down + k * across], row, 0, columns);
  }
}

EACH void transpose(V *a, i64 n) {
  for (i64 i = 0; i < n; i++)
    for (i64 j = 0; j < i; j++) {
      V kept = a[i * n + j];
      a[i * n + j] = a[j * n + i];
      a[j * n + i] = kept;
    }
}

/* the inverse in the place of a matrix, by the steps of Gauss and Jordan; gives the determinant */
EACH V inverted(V *a, i64 n) {
  M pivots[n];
  V size = {0};
  size += 1;
  for (i64 k = 0; k < n; k++) {
    V *row = a + k * n;
    pivots[k] = exchanged(a, k, n, n);
    size *= SHARED(row[k], -row[k], (M)(pivots[k] == (I)k));
    V part = 1 / row[k];
    row[k] = (V){0} + 1;
    for (i64 j = 0; j < n; j++) row[j] *= part;
    for (i64 i = 0; i < n; i++) {
      if (i == k) continue;
      V factor = a[i * n + k];
      a[i * n + k] = (V){0};
      subtract(a + i * n, factor, row, 0, n);
    }
  }
  for (i64 k = n - 1; k >= 0; k--)
    for (i64 l = 0; l < W; l++)
      if (pivots[k][l] != k)
        for (i64 i = 0; i < n; i++) exchange(a, i * n + k, i * n + pivots[k][l], l);
  return size;
}

EACH V root(V x) {
  for (i64 l = 0; l < W; l++) x[l] = sizeof(T) == 4 ? __builtin_sqrtf(x[l]) : __builtin_sqrt(x[l]);
  return x;
}

/* X, turned -> its inverse */
CONTRACTED static int inv(PyObject *args) {
  CONTRACT
  i64 n = SIZE(args, 0, -1), count = elements(args, 0) / (n * n);
  V a[n * n];
  for (i64 first = 0; first < count; first += W) {
    load(a, (T *)DATA(args, 0), first, count, n, n, FLAG(args, 1, 0));
    inverted(a, n);
    if (!store((T *)DATA(args, 2), a, first, count, n * n)) return DECLINED;
  }
  return DONE;
}

/* A, B, turned -> what A is multiplied by to give B */
CONTRACTED static int solve(PyObject *args) {
  CONTRACT
  i64 n = SIZE(args, 0, -1), columns = SIZE(args, 1, -1), count = elements(args, 0) / (n * n);
  V a[n * n], b[n * columns];
  M pivots[n];
  for (i64 first = 0; first < count; first += W) {
    load(a, (T *)DATA(args, 0), first, count, n, n, FLAG(args, 2, 0));
    load(b, (T *)DATA(args, 1), first, count, n, columns, 0);
    factored(a, pivots, n, n);
    for (i64 k = 0; k < n; k++)
      for (i64 l = 0; l < W; l++)
        if (pivots[k][l] != k)
          for (i64 j = 0; j < columns; j++)
            exchange(b, k * columns + j, pivots[k][l] * columns + j, l);
    substituted(a, n, 1, b, n, columns, 0, 1);
    substituted(a, n, 1, b, n, columns, 1, 0);
    if (!store((T *)DATA(args, 3), b, first, count, n * columns)) return DECLINED;
  }
  return DONE;
}

/* A, B, turned, upper, unit -> what the triangle of A, once turned, is multiplied by to give B */
CONTRACTED static int triangular_solve(PyObject *args) {
  CONTRACT
  i64 n = SIZE(args, 0, -1), columns = SIZE(args, 1, -1), count = elements(args, 0) / (n * n);
  V a[n * n], b[n * columns];
  for (i64 first = 0; first < count; first += W) {
    load(a, (T *)DATA(args, 0), first, count, n, n, FLAG(args, 2, 0));
    load(b, (T *)DATA(args, 1), first, count, n, columns, 0);
    substituted(a, n, 1, b, n, columns, FLAG(args, 2, 1), FLAG(args, 2, 2));
    if (!store((T *)DATA(args, 3), b, first, count, n * columns)) return DECLINED;
  }
  return DONE;
}

/* X, turned -> its determinant */
CONTRACTED static int det(PyObject *args) {
  CONTRACT
  i64 n = SIZE(args, 0, -1), count = elements(args, 0) / (n * n);
  V a[n * n];
  M pivots[n];
  for (i64 first = 0; first < count; first += W) {
    load(a, (T *)DATA(args, 0), first, count, n, n, FLAG(args, 1, 0));
    factored(a, pivots, n, n);
    V found = {0};
    found += 1;
    for (i64 k = 0; k < n; k++)
      found *= SHARED(a[k * n + k], -a[k * n + k], (M)(pivots[k] == (I)k));
    if (!store((T *)DATA(args, 2), &found, first, count, 1)) return DECLINED;
  }
  return DONE;
}

/* X, turned -> L and U, the rows that were exchanged, counted from 1 */
CONTRACTED static int lu(PyObject *args) {
  CONTRACT
  i64 rows = SIZE(args, 2, -2), columns = SIZE(args, 2, -1);
  i64 least = rows < columns ? rows : columns, count = elements(args, 0) / (rows * columns);
  V a[rows * columns];
  M pivots[least];
  for (i64 first = 0; first < count; first += W) {
    load(a, (T *)DATA(args, 0), first, count, rows, columns, FLAG(args, 1, 0));
    factored(a, pivots, rows, columns);
    if (!store((T *)DATA(args, 2), a, first, count, rows * columns)) return DECLINED;
    int *out = (int *)DATA(args, 3);
    for (i64 l = 0; l < W && first + l < count; l++)
      for (i64 k = 0; k < least; k++) {
        if (a[k * columns + k][l] == 0) return DECLINED;
        out[(first + l) * least + k] = (int)pivots[k][l] + 1;
      }
  }
  return DONE;
}

/* X, turned -> the lower triangle whose product with its transpose it is */
CONTRACTED static int cholesky(PyObject *args) {
  CONTRACT
  i64 n = SIZE(args, 0, -1), count = elements(args, 0) / (n * n);
  V a[n * n];
  for (i64 first = 0; first < count; first += W) {
    load(a, (T *)DATA(args, 0), first, count, n, n, FLAG(args, 1, 0));
    for (i64 k = 0; k < n; k++) {
      V size = root(a[k * n + k]), part = 1 / size; /* NaN of what is negative, infinite of zero */
      a[k * n + k] = size;
      for (i64 i = k + 1; i < n; i++) a[i * n + k] *= part;
      for (i64 j = k + 1; j < n; j++) {
        V factor = a[j * n + k];
        for (i64 i = j; i < n; i++) a[i * n + j] -= factor * a[i * n + k];
        a[k * n + j] = part * 0;
      }
    }
    if (!store((T *)DATA(args, 2), a, first, count, n * n)) return DECLINED;
  }
  return DONE;
}

/* X, turned -> Q and R, by reflections, with the signs that LAPACK gives them */
CONTRACTED static int qr(PyObject *args) {
  CONTRACT
  i64 rows = SIZE(args, 2, -2), columns = SIZE(args, 3, -1), least = SIZE(args, 2, -1);
  i64 count = elements(args, 0) / (rows * columns), widest = columns > least ? columns : least;
  V a[rows * columns], q[rows * least], sums[widest], scales[least];
  for (i64 first = 0; first < count; first += W) {
    load(a, (T *)DATA(args, 0), first, count, rows, columns, FLAG(args, 1, 0));
    for (i64 k = 0; k < least; k++) {
      V square = {0}, size = {0}, head = a[k * columns + k];
      for (i64 i = k + 1; i < rows; i++) {
        V x = a[i * columns + k];
        square += x * x;
        size += SIZE_OF(x);
      }
      for (i64 l = 0; l < W; l++) /* squares that are too small to say how long it is */
        if (size[l] != 0 && !(square[l] >= LEAST)) return DECLINED;
      M none = (M)(size == 0);
      V length = root(head * head + square);
      V end = SHARED(head, SHARED(-length, length, (M)(head >= 0)), none);
      scales[k] = SHARED((V){0}, (end - head) / end, none);
      V part = SHARED((V){0}, 1 / (head - end), none);
      for (i64 i = k + 1; i < rows; i++) a[i * columns + k] *= part;
      a[k * columns + k] = end;
      for (i64 j = k + 1; j < columns; j++) sums[j] = a[k * columns + j];
      for (i64 i = k + 1; i < rows; i++)
        subtract(sums, -a[i * columns + k], a + i * columns, k + 1, columns);
      for (i64 j = k + 1; j < columns; j++) a[k * columns + j] -= sums[j] *= scales[k];
      for (i64 i = k + 1; i < rows; i++)
        subtract(a + i * columns, a[i * columns + k], sums, k + 1, columns);
    }
    for (i64 e = 0; e < rows * least; e++) q[e] = (V){0};
    for (i64 k = least - 1; k >= 0; k--) {
      q[k * least + k] += 1;
      for (i64 j = k; j < least; j++) sums[j] = q[k * least + j];
      for (i64 i = k + 1; i < rows; i++)
        subtract(sums, -a[i * columns + k], q + i * least, k, least);
      for (i64 j = k; j < least; j++) q[k * least + j] -= sums[j] *= scales[k];
      for (i64 i = k + 1; i < rows; i++)
        subtract(q + i * least, a[i * columns + k], sums, k, least);
      for (i64 i = k + 1; i < rows && i < least; i++) a[i * columns + k] = (V){0};
    }
    if (!store((T *)DATA(args, 2), q, first, count, rows * least)) return DECLINED;
    if (!store((T *)DATA(args, 3), a, first, count, least * columns)) return DECLINED;
  }
  return DONE;
}

/* X, turned -> its cofactors */
CONTRACTED static int cofactors(PyObject *args) {
  CONTRACT
  i64 n = SIZE(args, 0, -1), count = elements(args, 0) / (n * n);
  V a[n * n];
  for (i64 first = 0; first < count; first += W) {
    load(a, (T *)DATA(args, 0), first, count, n, n, FLAG(args, 1, 0));
    V size = inverted(a, n);
    for (i64 e = 0; e < n * n; e++) a[e] *= size;
    transpose(a, n);
    if (!store((T *)DATA(args, 2), a, first, count, n * n)) return DECLINED;
  }
  return DONE;
}

/* L, the gradient by it -> the gradient by L L^T */
CONTRACTED static int cholesky_slope(PyObject *args) {
  CONTRACT
  i64 n = SIZE(args, 0, -1), count = elements(args, 0) / (n * n);
  V a[n * n], b[n * n], inner[n * n];
  for (i64 first = 0; first < count; first += W) {
    load(a, (T *)DATA(args, 0), first, count, n, n, 0);
    load(b, (T *)DATA(args, 1), first, count, n, n, 0);
    for (i64 i = 0; i < n; i++) {
      V *row = inner + i * n;
      for (i64 j = 0; j <= i; j++) row[j] = (V){0};
      for (i64 k = i; k < n; k++) subtract(row, -a[k * n + i], b + k * n, 0, i + 1);
      for (i64 j = 0; j < i; j++) inner[j * n + i] = row[j];
    }
    substituted(a, 1, n, inner, n, n, 1, 0);
    transpose(inner, n);
    substituted(a, 1, n, inner, n, n, 1, 0);
    for (i64 e = 0; e < n * n; e++) inner[e] *= (T)0.5;
    if (!store((T *)DATA(args, 2), inner, first, count, n * n)) return DECLINED;
  }
  return DONE;
}

/* L and U, the rows that were exchanged, the gradient by L and U -> that by their product */
CONTRACTED static int lu_slope(PyObject *args) {
  CONTRACT
  i64 n = SIZE(args, 0, -1), count = elements(args, 0) / (n * n);
  const int *pivots = (const int *)DATA(args, 1);
  V a[n * n], b[n * n], inner[n * n];
  for (i64 first = 0; first < count; first += W) {
    load(a, (T *)DATA(args, 0), first, count, n, n, 0);
    load(b, (T *)DATA(args, 2), first, count, n, n, 0);
    for (i64 i = 0; i < n; i++) {
      V *row = inner + i * n;
      for (i64 j = 0; j < i; j++) row[j] = b[i * n + j];
      for (i64 k = i + 1; k < n; k++) subtract(row, -a[k * n + i], b + k * n, 0, i);
      for (i64 j = i; j < n; j++) {
        V sum = {0};
        for (i64 k = j; k < n; k++) sum += b[i * n + k] * a[j * n + k];
        row[j] = sum;
      }
    }
    substituted(a, 1, n, inner, n, n, 1, 1);
    transpose(inner, n);
    substituted(a, n, 1, inner, n, n, 1, 0);
    transpose(inner, n);
    for (i64 l = 0; l < W && first + l < count; l++)
      for (i64 k = n - 1; k >= 0; k--) {
        i64 other = pivots[(first + l) * n + k] - 1;
        if (other < 0 || other >= n) return DECLINED;
        if (other != k)
          for (i64 j = 0; j < n; j++) exchange(inner, k * n + j, other * n + j, l);
      }
    if (!store((T *)DATA(args, 3), inner, first, count, n * n)) return DECLINED;
  }
  return DONE;
}
