/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the functions that kernels compute (common.cl), for both sides: included in C, and text before every
 * kernel. Hence nothing but definitions. */
#define GPU_COPY 0
#define GPU_CLIP 1         /* to [a, b] */
#define GPU_HARD_SIGMOID 2 /* a x + b, to [0, 1] */
#define GPU_HARD_SWISH 3
#define GPU_ABS 4
#define GPU_NEG 5
#define GPU_SQRT 6
#define GPU_RECIPROCAL 7
#define GPU_RSQRT 8
#define GPU_ELU 9 /* a */
#define GPU_GELU 10
#define GPU_SIGMOID 11
#define GPU_TANH 12
#define GPU_EXP 13
#define GPU_SIGN 14
#define GPU_ASIN 15
#define GPU_ATAN 16
#define GPU_CEIL 17
#define GPU_COS 18
#define GPU_FLOOR 19
#define GPU_LOG 20
#define GPU_ROUND 21 /* halves to even */
#define GPU_SIN 22
#define GPU_SOFTPLUS 23 /* beta a, threshold b */
#define GPU_NOT 24

/* Of two operands. */
#define GPU_BINARY 64
#define GPU_ADD 64
#define GPU_SUBTRACT 65
#define GPU_MULTIPLY 66
#define GPU_DIVIDE 67
#define GPU_MAXIMUM 68
#define GPU_MINIMUM 69
#define GPU_SQUARED_DIFFERENCE 70
#define GPU_POWER 71
#define GPU_PRELU 72
#define GPU_EQUAL 73
#define GPU_NOT_EQUAL 74
#define GPU_GREATER 75
#define GPU_GREATER_EQUAL 76
#define GPU_LESS 77
#define GPU_LESS_EQUAL 78
#define GPU_AND 79
#define GPU_OR 80
#define GPU_XOR 81
#define GPU_FLOOR_DIVIDE 82
#define GPU_FMOD 83   /* of the sign of the first */
#define GPU_MODULO 84 /* of the sign of the second */
/* Added to the number: the operands change places. */
#define GPU_SWAPPED 128
/* Added to the number of a function of one operand: the operand times the function of it. */
#define GPU_GATED 256
