/* What is beside the products in a step of an LSTM, forward and back: rows of a batch in order, their
   gates i, f, g, o behind each other. */
#define ROWS(args, k) (((i64 *)FIELD(ITEM(args, k), 2))[0])
#define SIZE(args, k) (((i64 *)FIELD(ITEM(args, k), 2))[1])

EACH float logistic(float x) { return 0.5f * tanh_f(0.5f * x) + 0.5f; }

/* product, cell before; gates (what flows to them, then what their functions give), cell, state */
CONTRACTED int lstm_step(PyObject *args) {
  CONTRACT
  const float *product = (float *)DATA(args, 0), *before = (float *)DATA(args, 1);
  float *gates = (float *)DATA(args, 2), *cell = (float *)DATA(args, 3);
  float *state = (float *)DATA(args, 4);
  i64 rows = ROWS(args, 1), size = SIZE(args, 1);
  for (i64 row = 0; row < rows; row++) {
    const float *p = product + row * 4 * size, *b = before + row * size;
    float *a = gates + row * 4 * size, *c = cell + row * size, *h = state + row * size;
#pragma omp simd
    for (i64 k = 0; k < size; k++) {
      float enter = logistic(a[k] + p[k]), forget = logistic(a[k + size] + p[k + size]);
      float fresh = tanh_f(a[k + 2 * size] + p[k + 2 * size]);
      float shown = logistic(a[k + 3 * size] + p[k + 3 * size]);
      float memory = forget * b[k] + enter * fresh;
      a[k] = enter;
      a[k + size] = forget;
      a[k + 2 * size] = fresh;
      a[k + 3 * size] = shown;
      c[k] = memory;
      h[k] = shown * tanh_f(memory);
    }
  }
  return DONE;
}

/* gates, cell, cell before, flow to the state; flow to the cell (then to that before), to what flows
   to the gates */
CONTRACTED int lstm_slope(PyObject *args) {
  CONTRACT
  const float *gates = (float *)DATA(args, 0), *cell = (float *)DATA(args, 1);
  const float *before = (float *)DATA(args, 2), *flow = (float *)DATA(args, 3);
  float *to_cell = (float *)DATA(args, 4), *to_gates = (float *)DATA(args, 5);
  i64 rows = ROWS(args, 1), size = SIZE(args, 1);
  for (i64 row = 0; row < rows; row++) {
    const float *a = gates + row * 4 * size, *c = cell + row * size, *b = before + row * size;
    const float *f = flow + row * size;
    float *d = to_cell + row * size, *g = to_gates + row * 4 * size;
#pragma omp simd
    for (i64 k = 0; k < size; k++) {
      float enter = a[k], forget = a[k + size], fresh = a[k + 2 * size], shown = a[k + 3 * size];
      float squashed = tanh_f(c[k]);
      float down = d[k] + f[k] * shown * (1.0f - squashed * squashed);
      g[k] = down * fresh * enter * (1.0f - enter);
      g[k + size] = down * b[k] * forget * (1.0f - forget);
      g[k + 2 * size] = down * enter * (1.0f - fresh * fresh);
      g[k + 3 * size] = f[k] * squashed * shown * (1.0f - shown);
      d[k] = down * forget;
    }
  }
  return DONE;
}
