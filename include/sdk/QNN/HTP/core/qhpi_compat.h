/* SPDX-License-Identifier: Apache-2.0 */
/* The older spellings of names in qhpi.h, which includes this. */
#ifndef QHPI_COMPAT_H
#define QHPI_COMPAT_H

#define QHPI_Success QHPI_SUCCESS

#define QHPI_QUInt8 QHPI_QUINT8
#define QHPI_QUInt16 QHPI_QUINT16
#define QHPI_QInt8 QHPI_QINT8
#define QHPI_QInt16 QHPI_QINT16
#define QHPI_Int32 QHPI_INT32
#define QHPI_Float32 QHPI_FLOAT32
#define QHPI_Float16 QHPI_FLOAT16

#define QHPI_Layout_Any QHPI_LAYOUT_ANY
#define QHPI_Layout_Flat4 QHPI_LAYOUT_FLAT_4

#define QHPI_Storage_Direct QHPI_STORAGE_DIRECT
#define QHPI_Storage_Direct_OR_Indirect QHPI_STORAGE_DIRECT_OR_INDIRECT

#define QHPI_MemLoc_DDR_OR_TCM QHPI_MEM_LOC_DDR_OR_TCM

#endif
