/* SPDX-License-Identifier: Apache-2.0 */
/* The build that a package says it was compiled with (QnnOpPackage_Info_t.sdkBuildId). */
#ifndef QNN_SDK_BUILD_ID_H
#define QNN_SDK_BUILD_ID_H

#define QNN_SDK_BUILD_ID "opendlc"

#endif
